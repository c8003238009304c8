#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace che {

// All that training needs to go on: with counter-based randomness there is no other state.
struct Checkpoint {
  std::int64_t step = 0;                  // Updates made.
  std::vector<float> values = {};         // Parameters, in ParameterSet's order.
  std::vector<float> first_moment = {};   // Adam's, same size.
  std::vector<float> second_moment = {};  // Adam's, same size.
};

// Writes the checkpoint of the run `id` to `folder`/checkpoint.bin, atomically and with a checksum;
// the one it replaces is kept as checkpoint.previous.bin. Throws Error (runtime) when the disk
// refuses.
void save_checkpoint(const std::filesystem::path& folder, const std::string& id,
                     const Checkpoint& checkpoint);

// A checkpoint, and a one-line warning for each file that was passed over because it is damaged. Such
// a file is renamed to *.damaged, so that it never takes the place of a good one.
struct LoadedCheckpoint {
  std::optional<Checkpoint> checkpoint;  // The newest good one.
  std::vector<std::string> warnings;
};

// Reads the newest good checkpoint of the run `id` with `size` parameters.
LoadedCheckpoint load_checkpoint(const std::filesystem::path& folder, const std::string& id,
                                 std::size_t size);

}  // namespace che
