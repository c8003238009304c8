#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/store/checkpoint.h"
#include "experiments/store/run_folder.h"
#include "models/transformer.h"

namespace che {

// A run's model, ready for a forward pass.
struct RestoredModel {
  std::unique_ptr<Transformer> model;  // One replica.
  std::int64_t step = 0;               // Updates made.
  std::vector<std::string> warnings;   // Of damaged checkpoints passed over.
};

// The model with the parameters of the run's newest good checkpoint. Throws Error (usage) for a run that has
// none, which names each damaged one, why it is damaged and where it is now.
RestoredModel restore_model(const RunFolder& run, DamagedCheckpoints damaged);
// The same as `config` has it, which is the run's but for what only evaluation reads and for what computes.
RestoredModel restore_model(const RunFolder& run, const RunConfig& config, DamagedCheckpoints damaged);

// Copies what a checkpoint holds of one replica into `tensor`, which has as many values.
void copy_values(std::vector<float>& values, const at::Tensor& tensor);

}  // namespace che
