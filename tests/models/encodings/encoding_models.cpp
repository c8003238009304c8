#include "tests/models/encodings/encoding_models.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "experiments/learn/model_factory.h"
#include "experiments/plan/encoding_config.h"
#include "experiments/plan/run_workload.h"
#include "models/ops/batch_score/batch_score.h"
#include "models/settings/encoding_entry.h"
#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

// Forward passes of fused attention while it lives.
class FusedAttentionCount {
 public:
  FusedAttentionCount() {
    count_ = 0;
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&begin));
  }
  ~FusedAttentionCount() { at::removeCallback(handle_); }
  FusedAttentionCount(const FusedAttentionCount&) = delete;
  FusedAttentionCount& operator=(const FusedAttentionCount&) = delete;

  std::int64_t value() const { return count_; }

 private:
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    if (std::string_view(function.name()) == "che::attention") ++count_;
    return nullptr;
  }

  static thread_local std::int64_t count_;
  at::CallbackHandle handle_;
};

thread_local std::int64_t FusedAttentionCount::count_ = 0;

}  // namespace

std::vector<std::string> all_labels() {
  std::vector<std::string> labels;
  for (const NamedEncoding& encoding : every_encoding()) labels.push_back(encoding.name);
  return labels;
}

RunConfig small_config(const std::string& label) {
  RunConfig config;
  config.task.reset("reverse_string");
  const std::vector<NamedEncoding> all = every_encoding();
  const auto named = std::ranges::find(all, label, &NamedEncoding::name);
  if (named != all.end()) {
    config.encoding = named->config;
    config.model.kind = named->model;
  } else {
    config.encoding.reset(label);
  }
  config.model.shape() = {.width = 16,
                          .layers = 2,
                          .heads = 2,
                          .ffn_multiple = 2,
                          .block = named == all.end() ? BlockForm::kPostNorm : named->block};
  config.encoding.max_position = 256;
  if (config.encoding.dape) config.encoding.dape->hidden = 8;
  return config;
}

std::vector<DapeVariant> dape_variants() {
  using enum DapeVariant;
  return {kConcatResidual, kConcat, kAddResidual, kBiasOnlyResidual, kAdd, kBiasOnly};
}

std::string word_of(DapeVariant variant) {
  return DapeOptions::variant_words().at(static_cast<std::size_t>(variant));
}

std::unique_ptr<Model> initialised(const RunConfig& config, const std::vector<std::int64_t>& seeds) {
  auto model = create_model(config, static_cast<std::int64_t>(seeds.size()));
  model->parameters().initialise(seeds);
  // What an encoding starts from a constant (CoPE's tables from zero) would have no say otherwise.
  for (const ParameterSpec& own :
       create_encoding(config.encoding, {.count = config.longest_training_sequence()})
           ->layer_parameters(config.model.shape())) {
    if (own.init.kind != Init::Kind::kConstant) continue;
    for (std::int64_t layer = 0; layer < config.model.shape().layers; ++layer) {
      const std::string name = "layer" + std::to_string(layer) + ".attn." + own.name;
      for (std::size_t r = 0; r < seeds.size(); ++r) {
        const at::Tensor value = model->parameters()[name].data()[static_cast<std::int64_t>(r)];
        value.add_(some_numbers(own.shape, keyed_seed(static_cast<std::uint64_t>(seeds[r]), name)), 0.2);
      }
    }
  }
  model->project();
  return model;
}

at::Tensor some_tokens(std::int64_t batch, std::int64_t length) {
  return at::arange(batch * length).mul(7).remainder(11).remainder(3).view({batch, length});
}

at::Tensor forward(const Model& model, const RunConfig& config, const at::Tensor& tokens,
                   std::int64_t outputs) {
  const auto positions = create_positions(config, 5, Purpose::kPositions, 9);
  return model.forward(tokens, outputs, {.positions = positions});
}

void expect_fused_equals_reference(RunConfig config) {
  const EncodingConfig& encoding = config.encoding;
  // A rotation counts as attention, too.
  const bool fuses_attention =
      encoding.name != "cope" && encoding.name != "relative" && !(encoding.dape && encoding.dape->taps() > 1);
  const at::Tensor tokens = some_tokens(4, 9);
  const Dropout dropout{0.1, {3, 4}, Purpose::kDropout, 2, 0};
  const FusedAttentionCount count;
  const auto outcome = [&](Kernels kernels) {
    config.execution.kernels = kernels;
    auto model = initialised(config, {3, 4});
    const auto positions = create_positions(config, 5, Purpose::kPositions, 9);
    const at::Tensor logits = model->forward(tokens, 4, {.positions = positions, .dropout = dropout});
    EXPECT_EQ(kernels == Kernels::kFused && fuses_attention, count.value() > 0);
    score_batch(logits, at::ones({4, 4}, at::kLong), at::ones({4, 4}, at::kByte), model->backend())
        .loss.sum()
        .backward();
    return std::pair(logits.detach(), std::move(model));
  };
  const auto [logits, reference] = outcome(Kernels::kReference);
  const auto [fused_logits, fused] = outcome(Kernels::kFused);
  EXPECT_EQ("", difference(fused_logits, logits, 1e-5));
  for (const ParameterSpec& spec : reference->parameters().specs()) {
    EXPECT_EQ("", difference(fused->parameters()[spec.name].grad(), reference->parameters()[spec.name].grad(),
                             1e-5))
        << spec.name;
  }
}

}  // namespace che
