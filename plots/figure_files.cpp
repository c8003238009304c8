#include "plots/figure_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <system_error>

#include "core/atomic_file.h"
#include "core/error.h"
#include "plots/gnuplot.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// A name that no other process or thread draws to; the file is removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view format) {
    static std::atomic<int> count = 0;
    path_ = fs::temp_directory_path() / fmt::format("che-figure-{}-{}.{}", ::getpid(), count++, format);
  }
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
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
  const TemporaryFile file(format);
  run_gnuplot(script(format, file.path()));
  std::error_code error;
  if (fs::file_size(file.path(), error) == 0 || error) {
    throw Error(fmt::format("gnuplot wrote nothing to '{}'; is there space?", file.path().string()),
                Fault::kRuntime);
  }
  std::string bytes = read_file(file.path());
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
