// Reads files of other people and machines. The first byte chooses predictions, a bundle's manifest, a
// submission or a lock; the rest is the content.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "core/file_lock.h"
#include "core/lock_holder.h"
#include "experiments/exchange/archive.h"
#include "experiments/exchange/bundle.h"
#include "experiments/exchange/predictions.h"
#include "experiments/schedule/submission.h"
#include "tests/fuzz/scratch_in_memory.h"

namespace che {
namespace {

const std::filesystem::path& input_file() {
  static const std::filesystem::path file = file_in_memory("input");
  return file;
}

void read_bundle(std::string_view manifest) {
  ArchiveWriter archive(input_file());
  archive.add("name/MANIFEST.json", manifest);
  archive.finish();
  const BundleSummary summary = verify_bundle(input_file());
  if (summary.runs != 0) std::abort();
}

void read_lock(std::string_view text) {
  if (const auto holder = parse_lock_holder(text)) {
    is_running(*holder);
    if (holder->process <= 0 || describe(*holder).find('\n') != std::string::npos) std::abort();
  }
  is_lock_file(text);
}

void read(std::uint8_t kind, std::string_view text) {
  if (kind % 4 == 1) return read_bundle(text);
  if (kind % 4 == 3) return read_lock(text);
  std::ofstream(input_file(), std::ios::binary) << text;
  if (kind % 4 == 0) {
    score_predictions(input_file());
  } else {
    read_submission(input_file());
  }
}

}  // namespace
}  // namespace che

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  che::refuse_or_do([&] { che::read(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1}); });
  return 0;
}
