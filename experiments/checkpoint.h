#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace che {

// Sums of a run's measurements over the steps since its last row of metrics.
struct MetricSums {
  double steps = 0;
  double loss = 0;
  double accuracy = 0;
  double gradient_norm = 0;
};

// All that training needs to go on: with counter-based randomness there is no other state.
struct Checkpoint {
  std::int64_t step = 0;  // Updates made.
  MetricSums sums = {};
  std::vector<float> values = {};         // Parameters, in ParameterSet's order.
  std::vector<float> first_moment = {};   // Adam's, same size.
  std::vector<float> second_moment = {};  // Adam's, same size.
};

// Writes the checkpoint of the run `id` to `folder`/checkpoint.bin, atomically and with a checksum;
// the one it replaces is kept as checkpoint.previous.bin. Throws Error (runtime) when the disk
// refuses.
void save_checkpoint(const std::filesystem::path& folder, const std::string& id,
                     const Checkpoint& checkpoint);

// A checkpoint, and a one-line warning for each file that was passed over because its content is
// damaged. Such a file is renamed to *.damaged, so that it never takes the place of a good one.
struct LoadedCheckpoint {
  std::optional<Checkpoint> checkpoint;  // The newest good one.
  std::vector<std::string> warnings;
};

// Reads the newest good checkpoint of the run `id` with `size` parameters. Throws Error for a file
// that cannot be read.
LoadedCheckpoint load_checkpoint(const std::filesystem::path& folder, const std::string& id,
                                 std::size_t size);

// Whether the folder holds a checkpoint, good or not.
bool has_checkpoint(const std::filesystem::path& folder);

// Deletes the folder's checkpoints, damaged ones too; returns the bytes freed. Throws Error (runtime) when
// the system refuses.
std::uintmax_t remove_checkpoints(const std::filesystem::path& folder);

}  // namespace che
