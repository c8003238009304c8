// A model outside che, of which only predictions are known.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "models/settings/model_entry.h"

namespace che {

struct ForeignOptions {
  std::string name;  // How tables call it.

  void visit_fields(FieldVisitor& visit) {
    visit.text({"name", "how tables call the model"}, name,
               [](std::string_view text) { return std::string(text); });
  }
};

inline ModelConfig foreign_model(std::string name) {
  return {.kind = "foreign", .options = ForeignOptions{std::move(name)}};
}

inline const Registered<ModelEntry> foreign_entry{{
    .name = "foreign",
    .summary = "a model outside che whose predictions che scores",
    .source = "docs/foreign-models.md",
    .is_trained = false,
    .takes_encoding = false,
    .options = ForeignOptions(),
    .problem = [](const AnyOptions&) -> std::optional<ConfigProblem> { return std::nullopt; },
    .width = {},
    .operations = [](const AnyOptions&, const std::optional<DapeOptions>&, double) { return 0.0; },
}};

}  // namespace che
