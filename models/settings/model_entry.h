#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/config/fields.h"
#include "core/registry.h"
#include "models/settings/encoding_entry.h"

namespace che {

// A kind of model as a config names it. Its header registers it and knows no LibTorch, so that configs and
// results can be read without it; its mathematics is registered as an Architecture.
struct ModelEntry {
  std::string name;
  std::string summary;                // One line.
  std::string source;                 // Paper or program.
  bool is_trained = true;             // If not, che knows predictions of the model only.
  bool takes_encoding = true;         // The options of a kind that takes one are a ModelShape.
  bool is_causal = false;             // A token sees no later one.
  AnyOptions options = ModelShape();  // The defaults.
  // Options that do not fit together.
  std::function<std::optional<ConfigProblem>(const AnyOptions&)> problem = [](const AnyOptions& set) {
    return set.as<ModelShape>().problem();
  };
  // Features per token.
  std::function<std::int64_t(const AnyOptions&)> width = [](const AnyOptions& set) {
    return set.as<ModelShape>().width;
  };
  // Floating point operations of a forward pass over one example of `tokens` tokens, nominal.
  std::function<double(const AnyOptions&, const std::optional<DapeOptions>&, double tokens)> operations;

  static const char* kind() { return "model"; }
};

// Which kind of model, with its options.
struct ModelConfig {
  std::string kind = "encoder";
  AnyOptions options = {};

  void visit_fields(FieldVisitor& visit);

  const ModelEntry& entry() const { return Registry<ModelEntry>::instance().get(kind); }

  // The options, or the entry's defaults where none were set.
  const AnyOptions& all_options() const { return options.or_defaults(entry().options); }

  // Features per token.
  std::int64_t width() const { return entry().width(all_options()); }

  // The shape of a model that takes an encoding.
  ModelShape shape() const;
  ModelShape& shape();

  // "encoder (width 256, layers 5, heads 8, ffn_multiple 4)"
  std::string text() const;
};

}  // namespace che
