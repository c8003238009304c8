#include "models/encodings/learned.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"

namespace che {
namespace {

struct Learned : Encoding {
  LearnedOptions options;

  std::vector<ParameterSpec> embedding_parameters(const ModelShape& shape) const override {
    return {{"table", {options.rows, shape.width}, Init::truncated_normal(1)}};
  }

  at::Tensor embedding(const EncodingContext& context) const override {
    const at::Tensor& table = context.parameters["table"];
    // As numbers of the activations' type, which holds every row's exactly.
    const at::Tensor rows = context.token_positions();
    return table.index_select(1, rows.to(at::kLong)).unsqueeze(1);
  }
};

const Registered<EncodingMaker> learned_maker{{"learned", make_encoding<Learned>}};

}  // namespace
}  // namespace che
