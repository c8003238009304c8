#include "plots/figure_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "plots/gnuplot.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<const char*, const char*>, 2> kTerminals{
    {{"svg", "svg"}, {"pngcairo", "png"}}};

}  // namespace

void draw_figure(const fs::path& folder, const std::string& stem, const FigureScript& script) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(fmt::format("cannot write figures to '{}': {}; name another folder with --output",
                            folder.string(), error.message()));
  }
  for (const auto& [terminal, ending] : kTerminals) {
    const std::string name = fmt::format("{}.{}", stem, ending);
    const fs::path temporary = folder / fmt::format(".{}.{}.tmp", name, ::getpid());
    const auto discard = [&] {
      std::error_code ignored;
      fs::remove(temporary, ignored);
    };
    try {
      run_gnuplot(script(terminal, temporary));
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
  }
}

}  // namespace che
