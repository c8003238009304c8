// Configs: the tree, a stored run's config, and a whole sweep with the input as its file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "core/config/node.h"
#include "experiments/plan/run_config.h"
#include "experiments/plan/sweep.h"
#include "tests/fuzz/scratch_in_memory.h"

namespace che {
namespace {

const std::filesystem::path& input_file() {
  static const std::filesystem::path file = file_in_memory("config.yaml");
  return file;
}

// What is read must be written to something that reads back to the same.
void check_round_trip(std::string_view text) {
  const RunConfig config = parse_run_config(text, "input");
  const std::string yaml = to_yaml(config);
  if (to_yaml(parse_run_config(yaml, "round trip")) != yaml) std::abort();
}

void no_warning(const std::string&) {}

}  // namespace
}  // namespace che

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  che::refuse_or_do([&] { che::short_text(che::parse_config(text, "input")); });
  che::refuse_or_do([&] { che::check_round_trip(text); });
  std::ofstream(che::input_file(), std::ios::binary) << text;
  che::refuse_or_do([&] { che::read_sweep(che::input_file(), {}, {}, che::no_warning); });
  // The same as an override on the command line and as a choice among runs.
  const std::string argument(text.substr(0, 1000));
  che::refuse_or_do([&] {
    std::ofstream(che::input_file(), std::ios::binary)
        << "name: a\nbase: {task: even_pairs, encoding: rope}\naxes: {seed: 0:2}\n";
    che::read_sweep(che::input_file(), {argument}, {.only = {argument}}, che::no_warning);
  });
  return 0;
}
