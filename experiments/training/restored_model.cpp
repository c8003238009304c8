#include "experiments/training/restored_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.h"
#include "core/text.h"
#include "experiments/store/needs.h"
#include "experiments/training/model_factory.h"

namespace che {
namespace {

std::string missing_checkpoint_text(const RunFolder& run, const std::vector<std::string>& damage) {
  const std::filesystem::path experiment = run.path().parent_path().parent_path();
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
  return text + fmt::format("to train it again, which replaces its results: {}", retraining_command(run));
}

}  // namespace

RestoredModel restore_model(const RunFolder& run, DamagedCheckpoints damaged) {
  return restore_model(run, run.config(), damaged);
}

RestoredModel restore_model(const RunFolder& run, const RunConfig& config, DamagedCheckpoints damaged) {
  RestoredModel restored{create_transformer(config, 1), 0, {}};
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

void copy_values(std::vector<float>& values, const at::Tensor& tensor) {
  tensor.copy_(at::from_blob(values.data(), tensor.sizes(), at::TensorOptions().dtype(at::kFloat)));
}

}  // namespace che
