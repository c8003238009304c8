#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "experiments/config.h"
#include "models/positions.h"
#include "models/transformer.h"

namespace che {

// What a run's config says of its model: the only place where configs become tensors.
std::unique_ptr<Encoding> create_encoding(const EncodingConfig& config);

Vocabulary vocabulary_of(const TaskConfig& task);

// Throws Error for a device this build or machine lacks.
at::TensorOptions tensor_options(const ExecutionConfig& execution);

// Values of one replica.
std::int64_t parameter_count(const RunConfig& config);

std::unique_ptr<Transformer> create_transformer(const RunConfig& config, std::int64_t replicas);

// The positions of one forward pass: `seed` (data or evaluation seed; keyed by the task inside),
// `step` (or length) and `batch` select the draw where positions are randomized.
std::unique_ptr<Positions> create_positions(const RunConfig& config, std::int64_t seed, Purpose purpose,
                                            std::uint64_t step, std::uint64_t batch = 0);

// Floating point operations of one training step, nominal: 3 B N (24 T d^2 + 4 T^2 d), plus
// 6 T^2 h D a layer with DAPE (times three with DAPE V2), at the mean of T over the training
// lengths; and of the whole evaluation, a third of that an example.
double training_step_operations(const RunConfig& config);
double evaluation_operations(const RunConfig& config);

}  // namespace che
