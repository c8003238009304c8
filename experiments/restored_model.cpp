#include "experiments/restored_model.h"

#include <ATen/ATen.h>
#include <fmt/core.h>

#include "core/error.h"
#include "experiments/checkpoint.h"
#include "experiments/model_of_run.h"

namespace che {

RestoredModel restore_model(const RunFolder& run) {
  RestoredModel restored{create_transformer(run.config(), 1), 0, {}};
  const auto size = static_cast<std::size_t>(restored.model->parameters().size());
  LoadedCheckpoint loaded = load_checkpoint(run.path(), run.id(), size);
  if (!loaded.checkpoint) {
    throw Error(
        fmt::format("run '{}' has no {}checkpoint; train it first: che run CONFIG --output {} (where "
                    "it is finished, remove its folder before)",
                    run.path().string(), loaded.warnings.empty() ? "" : "undamaged ",
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
