#include "plots/figure_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "core/atomic_file.h"
#include "core/error.h"
#include "plots/gnuplot.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// A folder of this process alone, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((fs::temp_directory_path() / "che-figure-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
      throw Error(fmt::format("cannot create a folder '{}': {}; set TMPDIR to a folder that can be written",
                              path_, std::strerror(errno)),
                  Fault::kRuntime);
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  fs::path path() const { return path_; }

 private:
  std::string path_;
};

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
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "figure";
  run_gnuplot(script(format, file));
  std::error_code error;
  if (fs::file_size(file, error) == 0 || error) {
    throw Error(fmt::format("gnuplot wrote nothing to '{}'; is there space?", file.string()),
                Fault::kRuntime);
  }
  std::string bytes = read_file(file);
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
