#pragma once

#include <filesystem>

#include "experiments/store/checkpoint.h"
#include "experiments/store/run_folder.h"

namespace che {

// The run's checkpoint, of however many parameters; throws where there is no good one.
inline Checkpoint final_checkpoint(const RunFolder& run) {
  // Header, sums and checksum, then three floats a parameter.
  const std::size_t size = (std::filesystem::file_size(run.path() / "checkpoint.bin") - 72) / 12;
  return load_checkpoint(run.path(), run.id(), size, DamagedCheckpoints::kLeave).checkpoint.value();
}

}  // namespace che
