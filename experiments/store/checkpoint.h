#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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
  std::int64_t step = 0;  // Updates so far.
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

// A file's content as save_checkpoint writes it for the run `id`. Throws Error (usage) that says what is
// wrong: "has 3 bytes instead of 152", "has a wrong checksum", "belongs to another run".
std::string checkpoint_bytes(const std::string& id, const Checkpoint& checkpoint);
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& id, std::size_t size);

// The newest good checkpoint, and a line about each damaged file.
struct LoadedCheckpoint {
  std::optional<Checkpoint> checkpoint;
  std::vector<std::string> warnings;
};

// Damaged checkpoints stay, or are renamed to *.damaged on behalf of the holder of the run's lock (see
// set_aside_locked), so that they never take the place of a good one.
enum class DamagedCheckpoints : std::uint8_t { kLeave, kSetAside };

// Reads the newest good checkpoint of the run `id` with `size` parameters. Throws Error (runtime) for a file
// that the system does not let us read or rename.
LoadedCheckpoint load_checkpoint(const std::filesystem::path& folder, const std::string& id, std::size_t size,
                                 DamagedCheckpoints damaged);

// Whether the folder holds a checkpoint, good or not.
bool has_checkpoint(const std::filesystem::path& folder);

// The step of the newest checkpoint, good or not, as its first bytes have it; nothing without one. Throws
// Error (runtime) for a file that the system does not let us read.
std::optional<std::int64_t> checkpoint_step(const std::filesystem::path& folder);

// Deletes the folder's checkpoints, damaged ones too, but nothing else of such a name, such as a folder;
// returns the bytes freed. A dry run deletes nothing. Throws Error (runtime) when the system refuses.
std::uintmax_t remove_checkpoints(const std::filesystem::path& folder, bool is_dry_run = false);

}  // namespace che
