#include "plots/figure_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "core/error.h"
#include "plots/gnuplot.h"

namespace che {

namespace fs = std::filesystem;

const std::vector<std::string>& figure_formats() {
  static const std::vector<std::string> formats = {"svg", "pdf", "png"};
  return formats;
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
    const std::string name = fmt::format("{}.{}", stem, format);
    const fs::path temporary = folder / fmt::format(".{}.{}.tmp", name, ::getpid());
    const auto discard = [&] {
      std::error_code ignored;
      fs::remove(temporary, ignored);
    };
    try {
      run_gnuplot(script(format, temporary));
      if (!fs::exists(temporary) || fs::is_empty(temporary)) {
        throw Error(fmt::format("gnuplot wrote nothing to '{}'; is the folder writable?", folder.string()),
                    Fault::kRuntime);
      }
      fs::rename(temporary, folder / name);
    } catch (const fs::filesystem_error& failed) {
      discard();
      throw Error(fmt::format("cannot write '{}': {}", (folder / name).string(), failed.code().message()),
                  Fault::kRuntime);
    } catch (const Error&) {
      discard();
      throw;
    }
    files.push_back(folder / name);
  }
  return files;
}

}  // namespace che
