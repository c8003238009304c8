#include "experiments/training/restored_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.h"
#include "experiments/training/model_factory.h"

namespace che {

RestoredModel restore_model(const RunFolder& run, DamagedCheckpoints damaged) {
  return restore_model(run, run.config(), damaged);
}

RestoredModel restore_model(const RunFolder& run, const RunConfig& config, DamagedCheckpoints damaged) {
  RestoredModel restored{create_transformer(config, 1), 0, {}};
  const auto size = static_cast<std::size_t>(restored.model->parameters().size());
  LoadedCheckpoint loaded = load_checkpoint(run.path(), run.id(), size, damaged);
  if (!loaded.checkpoint) {
    const bool is_finished = run.status().state == RunState::kFinished;
    throw Error(fmt::format(
        "run '{}' has no {}checkpoint{}{}; {}: che run CONFIG {}--output {}", run.path().string(),
        loaded.warnings.empty() ? "" : "undamaged ", loaded.warnings.empty() ? "" : ": ",
        fmt::join(loaded.warnings, "; "),
        is_finished
            ? "`che prune` deletes those of finished runs; with a test length that the run lacks, this "
              "trains it again"
            : "train it first",
        is_finished ? "evaluation.last_length=N --retrain " : "",
        run.path().parent_path().parent_path().string()));
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
