#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/run_folder.h"
#include "models/architectures/model.h"
#include "models/ops/device/backend.h"

namespace che {

// Makes the encoding that a config names.
std::unique_ptr<Encoding> create_encoding(const EncodingConfig& config, TrainedTokens trained);

// The device that computes a run, and its name in results.
struct ComputingDevice {
  at::Device device;
  std::string description;  // As cpu_text() has it, or "cuda (NVIDIA H200, tf32, graphs)".
  std::shared_ptr<Gpu> gpu = {};
};

// Opens the device that `execution` asks for, the first of several. Throws Error for one that this machine
// lacks.
ComputingDevice open_device(const ExecutionConfig& execution);

// Returns whether a GPU with these kernels trains the config's attention by compositions of LibTorch's
// operations, because a block has too little shared memory or they do not serve its shape. It then takes
// several times the time and the memory. False for an encoding whose attention has no kernel anywhere.
bool composes_attention(const RunConfig& config, const AttentionKernels& kernels);

// The name of the run's device in results, with ", attention composed" where that is so.
std::string device_text(const RunConfig& config);

// Returns that device with the kernels that `execution` asks for. Throws Error as open_device() does.
Backend backend_of(const ExecutionConfig& execution);

// Values of one replica.
std::int64_t parameter_count(const RunConfig& config);

// A model of the kind that the config names, on `backend` or on what the config's `execution` asks for.
std::unique_ptr<Model> create_model(const RunConfig& config, std::int64_t replicas);
std::unique_ptr<Model> create_model(const RunConfig& config, std::int64_t replicas, const Backend& backend);

// A run's model, ready for a forward pass.
struct RestoredModel {
  std::unique_ptr<Model> model;       // One replica.
  std::int64_t step = 0;              // Updates made.
  std::vector<std::string> warnings;  // About damaged checkpoints that were passed over.
};

// The model of `config` with the parameters of the run's newest good checkpoint. `config` is the run's,
// except that it may differ in what evaluation and execution read. Throws Error (usage) for a run without a
// good checkpoint, which names each damaged one, why it is damaged and where it is now.
RestoredModel restore_model(const RunFolder& run, const RunConfig& config, DamagedCheckpoints damaged);

// The run in `folder`, for a command that reads its model. Throws Error (usage) if there is none.
RunFolder open_run(const std::string& folder);

// The model of a run as it stands, on the CPU in single precision, for a command that reads it. Prints the
// warnings, and a note if the run is not finished.
RestoredModel restore_for_reading(const RunFolder& run);

// Copies a replica's values from a checkpoint into `tensor`, which has as many.
void copy_values(std::vector<float>& values, const at::Tensor& tensor);

}  // namespace che
