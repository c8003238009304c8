#include "models/settings/model_shape.h"

#include <fmt/format.h>

namespace che {

void ModelShape::visit_fields(FieldVisitor& visit) {
  visit.integer({"width", "features per token, d"}, width, 1, 65'536);
  visit.integer({"layers", "blocks of attention and a feed-forward network"}, layers, 1, 1'000);
  visit.integer({"heads", "attention heads; they divide the width"}, heads, 1, 1'024);
  visit.integer({"ffn_multiple", "width of the feed-forward network over d"}, ffn_multiple, 1, 64);
  visit.choice({"block", "LayerNorm after each residual connection, or before each sub-layer as GPT-NeoX"},
               block, {"post_norm", "pre_norm"});
}

std::optional<ConfigProblem> ModelShape::problem() const {
  if (width % heads == 0) return std::nullopt;
  return ConfigProblem{
      {"model.heads"},
      fmt::format("{} heads do not divide model.width {}; allowed: divisors of the width", heads, width)};
}

}  // namespace che
