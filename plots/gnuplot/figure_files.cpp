#include "plots/gnuplot/figure_files.h"

#include <fmt/format.h>

#include <system_error>

#include "core/error.h"
#include "core/files.h"
#include "plots/gnuplot/gnuplot.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// A reader's machine may lack the font; Verdana is as wide.
void name_other_fonts(std::string& svg) {
  constexpr std::string_view kFont = "font-family=\"DejaVu Sans\"";
  constexpr std::string_view kFonts = "font-family=\"DejaVu Sans, Verdana, sans-serif\"";
  for (std::size_t at = 0; (at = svg.find(kFont, at)) != std::string::npos; at += kFonts.size()) {
    svg.replace(at, kFont.size(), kFonts);
  }
}

}  // namespace

const std::vector<std::string>& figure_formats() {
  static const std::vector<std::string> formats = {"svg", "pdf", "png"};
  return formats;
}

std::string figure_bytes(std::string_view format, const FigureScript& script) {
  std::string bytes = run_gnuplot(script(format, kGnuplotOutput));
  if (bytes.empty()) throw Error("gnuplot drew nothing and named no error", Fault::kRuntime);
  if (format == "svg") name_other_fonts(bytes);
  return bytes;
}

std::vector<fs::path> draw_figure(const fs::path& folder, const std::string& stem, const FigureScript& script,
                                  const std::vector<std::string>& formats) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(fmt::format("cannot write figures to '{}': {}; name another folder with --output",
                            folder.string(), error.message()));
  }
  std::vector<fs::path> files;
  for (const std::string& format : formats) {
    files.push_back(folder / fmt::format("{}.{}", stem, format));
    write_file_atomically(files.back(), figure_bytes(format, script));
  }
  return files;
}

}  // namespace che
