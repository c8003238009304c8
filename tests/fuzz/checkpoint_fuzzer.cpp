// checkpoint.bin: as it is, and with the checksum that its content should have, so that the header is
// reached.
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "experiments/store/checkpoint.h"
#include "tests/fuzz/scratch_in_memory.h"

namespace che {
namespace {

const std::string kRun = "even_pairs-rope-lr0.001-seed0-0123456789ab";

// As a checkpoint of 0 to 4 parameters. What is read is stored again as it was.
void read(std::string_view bytes) {
  for (std::size_t parameters = 0; parameters <= 4; ++parameters) {
    refuse_or_do([&] {
      if (checkpoint_bytes(kRun, parse_checkpoint(bytes, kRun, parameters)) != bytes) std::abort();
    });
  }
}

}  // namespace
}  // namespace che

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  che::read(bytes);
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), bytes.size());
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  che::read(bytes);
  return 0;
}
