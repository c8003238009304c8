#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "experiments/plan/run_config.h"
#include "models/ops/device/backend.h"
#include "models/settings/positions.h"
#include "models/transformer.h"

namespace che {

// What a run's config says of its model: the only place where configs become tensors.
std::unique_ptr<Encoding> create_encoding(const EncodingConfig& config, TrainedTokens trained);

Vocabulary vocabulary_of(const TaskConfig& task);

// What computes a run, and how results name it.
struct ComputingDevice {
  at::Device device;
  std::string description;  // "cpu", or "cuda (" with the GPU's name, the precision and
                            // ", graphs" where it replays steps ")".
  std::shared_ptr<Gpu> gpu = {};
};

// Opens the device that `execution` asks for, the first of several. Throws Error for one that this machine
// lacks.
ComputingDevice open_device(const ExecutionConfig& execution);

// The same with the kernels that `execution` asks for. Throws Error for kernels of another name, too.
Backend backend_of(const ExecutionConfig& execution);

// Values of one replica.
std::int64_t parameter_count(const RunConfig& config);

// On what the config's `execution` asks for, or on `backend`.
std::unique_ptr<Transformer> create_transformer(const RunConfig& config, std::int64_t replicas);
std::unique_ptr<Transformer> create_transformer(const RunConfig& config, std::int64_t replicas,
                                                const Backend& backend);

// The positions of one forward pass: `seed` (data or evaluation seed; keyed by the task inside),
// `step` (or length) and `batch` select the draw where positions are randomized.
Positions create_positions(const RunConfig& config, std::int64_t seed, Purpose purpose, std::uint64_t step,
                           std::uint64_t batch = 0);

}  // namespace che
