#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "models/encodings/encoding.h"
#include "models/ops/attention/attention.h"
#include "models/ops/device/backend.h"
#include "models/ops/dropout/dropout_mask.h"
#include "models/parameters/parameter_set.h"
#include "models/settings/positions.h"
#include "workloads/workload.h"

namespace che {

// Is called with every layer's logits in a forward pass.
using AttentionObserver = std::function<void(std::int64_t layer, const AttentionLogits& logits)>;

// The inputs of a forward pass beside the tokens and the parameters. A model ignores those it does not need.
struct Pass {
  const Positions& positions;
  Dropout dropout = {};
  AttentionObserver observer = {};
  std::optional<std::int64_t> observed_query = {};  // A token that the pass computes; all unless given.
  bool is_evaluation = false;                       // A model may have settings that hold in evaluation only.
};

struct AttentionSize {
  std::int64_t layers = 0;
  std::int64_t heads = 0;
};

// A model for several replicas that see the same tokens. Parameters are zero until initialised or loaded.
class Model {
 public:
  Model(std::vector<ParameterSpec> specs, std::int64_t replicas, const Backend& backend)
      : parameters_(std::move(specs), replicas, backend.options), backend_(backend) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  ParameterSet& parameters() { return parameters_; }
  const ParameterSet& parameters() const { return parameters_; }
  const Backend& backend() const { return backend_; }

  // Brings parameters back into their range; called before each training step and once before an evaluation.
  virtual void project() {}

  // Returns what the head reads for the last `outputs` tokens, (replicas, batch, outputs, features), from
  // tokens (batch, tokens) of type long.
  virtual at::Tensor features(const at::Tensor& tokens, std::int64_t outputs, const Pass& pass) const = 0;
  // The logits of such features, (replicas, batch, outputs, classes). Every output's are its own, so that a
  // large vocabulary's need not be in memory at once.
  virtual at::Tensor head(const at::Tensor& features) const = 0;
  virtual std::int64_t classes() const = 0;

  at::Tensor forward(const at::Tensor& tokens, std::int64_t outputs, const Pass& pass) const {
    return head(features(tokens, outputs, pass));
  }

  // The attention that Pass::observer sees; nothing if the model has none.
  virtual std::optional<AttentionSize> attention_size() const { return std::nullopt; }

 private:
  ParameterSet parameters_;
  Backend backend_;
};

// The parts of a model that a run's config and workload determine.
struct ModelParts {
  AnyOptions options;  // Those of the kind's ModelEntry.
  Vocabulary vocabulary;
  std::unique_ptr<Encoding> encoding = {};  // Null where the kind takes none.
};

// The mathematics of a kind of model. The last line of its file registers it under the name of its
// ModelEntry.
struct Architecture {
  std::string name;
  std::function<std::vector<ParameterSpec>(const ModelParts&)> parameters;
  std::function<std::unique_ptr<Model>(ModelParts, std::int64_t replicas, const Backend&)> make;

  static const char* kind() { return "model"; }
};

}  // namespace che
