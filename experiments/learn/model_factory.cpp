#include "experiments/learn/model_factory.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/resources.h"
#include "core/text.h"
#include "experiments/plan/run_workload.h"
#include "experiments/store/needs.h"
#include "models/ops/device/cuda_library.h"

namespace che {
namespace {

ModelParts parts_of(const RunConfig& config) {
  ModelParts parts{.options = config.model.all_options(),
                   .vocabulary = create_workload(config)->vocabulary()};
  if (config.model.entry().takes_encoding) {
    parts.options = config.model.shape();
    parts.encoding = create_encoding(config.encoding, {.count = config.longest_training_sequence()});
  }
  return parts;
}

const Architecture& architecture_of(const RunConfig& config) {
  return Registry<Architecture>::instance().get(config.model.kind);
}

std::string missing_checkpoint_text(const RunFolder& run, const std::vector<std::string>& damage) {
  const std::filesystem::path experiment = run.experiment();
  const bool is_finished = run.read().status.state == RunState::kFinished;
  std::string text = fmt::format("run '{}' has no checkpoint; ", run.path().string());
  if (!damage.empty()) {
    text = fmt::format("run '{}' has no undamaged checkpoint: {}; ", run.path().string(),
                       fmt::join(damage, "; "));
  } else if (is_finished) {
    text += "`che prune` deletes the checkpoints of finished runs; ";
  }
  if (!is_finished)
    return text + fmt::format("train it first: che run CONFIG --output {}", shell_word(experiment.string()));
  return text + fmt::format("to train it again, which replaces its results: {}", retraining_commands(run));
}

}  // namespace

std::unique_ptr<Encoding> create_encoding(const EncodingConfig& config, TrainedTokens trained) {
  return create_encoding(config.name, config.options, config.dape, trained, config.attention_scale,
                         config.window);
}

ComputingDevice open_device(const ExecutionConfig& execution) {
  const DeviceChoice choice = device_choice(execution.device);
  const std::vector<std::string> visible = available_resources().gpus;
  if (!choice.is_gpu(visible)) return {at::kCPU, cpu_text(execution)};
  const std::vector<std::int64_t> allowed = gpus_of(execution, visible);
  // A worker sees the one GPU that it was given, whatever its place was among all.
  const bool is_given = visible.size() == 1 && !choice.number;
  const bool is_tf32 = execution.precision == Precision::kTf32 || execution.has_bf16();
  const std::shared_ptr<Gpu> gpu = open_cuda_gpu(allowed.empty() || is_given ? 0 : allowed.front(),
                                                 is_tf32 ? GpuPrecision::kTf32 : GpuPrecision::kFp32);
  std::vector<std::string> parts{gpu->description.name, precision_name(execution.precision)};
  if (execution.replays_steps()) parts.emplace_back("graphs");
  if (execution.micro_batch > 0) parts.push_back(fmt::format("micro-batches of {}", execution.micro_batch));
  return {gpu->device, fmt::format("cuda ({})", fmt::join(parts, ", ")), gpu};
}

bool composes_attention(const RunConfig& config, const AttentionKernels& kernels) {
  if (!config.model.entry().takes_encoding) return false;
  const std::optional<DapeOptions>& dape = config.encoding.dape;
  if (dape && dape->taps() != 1) return false;
  const ModelShape& shape = config.model.shape();
  return !kernels.serves({.replicas = 1,
                          .batch = 1,
                          .queries = 1,
                          .keys = 1,
                          .heads = shape.heads,
                          .head_width = shape.width / shape.heads,
                          .hidden = dape ? dape->hidden : 0},
                         /*has_gradients=*/true);
}

std::string device_text(const RunConfig& config) {
  ComputingDevice device = open_device(config.execution);
  if (device.gpu != nullptr && config.execution.kernels == Kernels::kFused &&
      composes_attention(config, device.gpu->library->kernels.attention)) {
    device.description.insert(device.description.size() - 1, ", attention composed");
  }
  return device.description;
}

Backend backend_of(const ExecutionConfig& execution) {
  const ComputingDevice opened = open_device(execution);
  return {execution.kernels, at::TensorOptions().dtype(at::kFloat).device(opened.device), opened.gpu,
          execution.has_bf16() ? Operands::kBf16 : Operands::kFp32};
}

std::int64_t parameter_count(const RunConfig& config) {
  return parameter_count(architecture_of(config).parameters(parts_of(config)));
}

std::unique_ptr<Model> create_model(const RunConfig& config, std::int64_t replicas) {
  return create_model(config, replicas, backend_of(config.execution));
}

std::unique_ptr<Model> create_model(const RunConfig& config, std::int64_t replicas, const Backend& backend) {
  return architecture_of(config).make(parts_of(config), replicas, backend);
}

RestoredModel restore_model(const RunFolder& run, const RunConfig& config, DamagedCheckpoints damaged) {
  RestoredModel restored{create_model(config, 1), 0, {}};
  const auto size = static_cast<std::size_t>(restored.model->parameters().size());
  LoadedCheckpoint loaded = load_checkpoint(run.path(), run.id(), size, damaged);
  if (!loaded.checkpoint) {
    throw Error(missing_checkpoint_text(run, loaded.warnings));
  }
  copy_values(loaded.checkpoint->values, restored.model->parameters().values()[0]);
  restored.model->project();
  restored.step = loaded.checkpoint->step;
  restored.warnings = std::move(loaded.warnings);
  return restored;
}

RunFolder open_run(const std::string& folder) {
  if (!std::filesystem::exists(std::filesystem::path(folder) / "config.yaml")) {
    throw Error(fmt::format("no run in '{}'; name a folder results/<experiment>/runs/<run id>", folder));
  }
  return RunFolder::open(folder);
}

RestoredModel restore_for_reading(const RunFolder& run) {
  RunConfig config = run.config();
  config.execution.device = ExecutionConfig().device;  // A machine that only reads may have no GPU.
  config.execution.precision = ExecutionConfig().precision;
  RestoredModel restored = restore_model(run, config, DamagedCheckpoints::kLeave);
  for (const std::string& warning : restored.warnings) print_warning(warning);
  if (restored.step < config.training.steps) {
    fmt::print(stderr, "che: note: the run stands at step {} of {}\n", restored.step, config.training.steps);
  }
  return restored;
}

void copy_values(std::vector<float>& values, const at::Tensor& tensor) {
  tensor.copy_(at::from_blob(values.data(), tensor.sizes(), at::TensorOptions().dtype(at::kFloat)));
}

}  // namespace che
