#pragma once

#include <cstdint>
#include <optional>

#include "core/config/fields.h"

namespace che {

// How a block of a transformer is built; see models/architectures/encoder_model.h.
enum class BlockForm : std::uint8_t { kPostNorm, kPreNorm };

// The sizes of a transformer that its config sets, and the form of its blocks.
struct ModelShape {
  std::int64_t width = 256;  // d, features per token
  std::int64_t layers = 5;
  std::int64_t heads = 8;
  std::int64_t ffn_multiple = 4;  // FFN width over d
  BlockForm block = BlockForm::kPostNorm;
  bool causal = false;  // A token sees no later one. The kind of model says so, no config.

  std::int64_t head_width() const { return width / heads; }

  void visit_fields(FieldVisitor& visit);

  // Heads that do not divide the width.
  std::optional<ConfigProblem> problem() const;
};

}  // namespace che
