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
    throw Error(fmt::format(
        "run '{}' has no {}checkpoint{}{}; train it first: che run CONFIG --output {} (of a finished run, "
        "`che prune` deletes it; --retrain trains it again where the config asks for further test lengths)",
        run.path().string(), loaded.warnings.empty() ? "" : "undamaged ", loaded.warnings.empty() ? "" : ": ",
        fmt::join(loaded.warnings, "; "), run.path().parent_path().parent_path().string()));
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
