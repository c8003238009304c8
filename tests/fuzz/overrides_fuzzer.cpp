// Arguments of the command line: each line of the input is an override of a config with axes, variants and
// exclusions; a line that begins with '?' is a choice among its runs (--only).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/sweep.h"
#include "tests/fuzz/scratch_in_memory.h"

namespace che {
namespace {

constexpr std::size_t kMaxArguments = 8;

constexpr std::string_view kConfig = R"(name: a
base: {task: even_pairs, model: {width: 16}}
axes:
  encoding: [rope, dape_kerple]
  size:
    - {label: small, model.width: 8, model.layers: 1}
    - {label: large, training: {steps: 7}}
  seed: 0:1
exclude:
  - {encoding: rope, size: large, seed: 1}
)";

const std::filesystem::path& config_file() {
  static const std::filesystem::path file = [] {
    const std::filesystem::path path = file_in_memory("overridden.yaml");
    std::ofstream(path, std::ios::binary) << kConfig;
    return path;
  }();
  return file;
}

void check_one_line(std::string_view text) {
  if (text.find('\n') != std::string_view::npos) std::abort();
}

}  // namespace
}  // namespace che

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> overrides;
  std::vector<std::string> only;
  while (!text.empty() && overrides.size() + only.size() < che::kMaxArguments) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("?")) {
      only.emplace_back(line.substr(1));
    } else {
      overrides.emplace_back(line);
    }
  }
  try {
    const che::Sweep sweep =
        che::read_sweep(che::config_file(), overrides, {.only = only, .skip = {}}, che::check_one_line);
    // What is accepted is sound and can be stored.
    for (const che::RunConfig& run : sweep.runs) {
      if (run.problem()) std::abort();
      if (che::run_id(che::parse_run_config(che::to_yaml(run), "round trip")) != che::run_id(run))
        std::abort();
    }
  } catch (const che::Error& error) {
    che::check_one_line(error.what());
    if (error.kind() != che::ErrorKind::kUsage) std::abort();
  }
  return 0;
}
