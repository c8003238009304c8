// Files of a results folder: the first byte chooses the file, the rest is its content.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "core/error.h"
#include "core/file_lock.h"
#include "experiments/schedule/progress.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/run_folder.h"
#include "tests/fuzz/scratch_in_memory.h"

namespace che {
namespace {

constexpr std::array kFiles{"config.yaml", "status.json", "metrics.csv", "evaluation.csv", "checkpoint.bin"};

// A checkpoint of so many parameters.
constexpr std::size_t kParameters = 4;

const RunFolder& folder() {
  static const RunFolder run = [] {
    std::atexit([] { std::filesystem::remove_all(scratch_in_memory()); });
    RunConfig config;
    config.encoding.reset("rope");
    return RunFolder::create(scratch_in_memory(), config);
  }();
  return run;
}

void read(std::string_view name, std::string_view content) {
  const std::filesystem::path file = folder().path() / name;
  const std::string good = [&] {
    std::ifstream stream(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }();
  std::ofstream(file, std::ios::binary) << content;
  if (name == "checkpoint.bin") {
    const FileLock lock(folder().path());
    load_checkpoint(folder().path(), folder().id(), kParameters, DamagedCheckpoints::kSetAside);
    std::filesystem::remove(file.string() + ".damaged");
  }
  const StoredRun stored = folder().read();
  // What is not damaged is stored again as it was.
  if (name == "evaluation.csv" && stored.damage.empty()) {
    folder().write_evaluation(stored.evaluation);
    if (folder().read().evaluation.size() != stored.evaluation.size()) std::abort();
  }
  try {
    RunFolder::open(folder().path());
  } catch (const Error&) {
  }
  parse_progress(content);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (name == "config.yaml") std::ofstream(file, std::ios::binary) << good;
}

}  // namespace
}  // namespace che

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  che::read(che::kFiles.at(data[0] % che::kFiles.size()),
            {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
