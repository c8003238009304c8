#include "models/settings/model_entry.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/config/field_list.h"
#include "core/text.h"

namespace che {

void ModelConfig::visit_fields(FieldVisitor& visit) {
  visit.choice({.name = "kind", .help = "which kind of model", .structural = true}, kind,
               Registry<ModelEntry>::instance().names());
  options = all_options();
  options.visit_fields(visit);
}

ModelShape ModelConfig::shape() const {
  ModelShape shape = all_options().as<ModelShape>();
  shape.causal = entry().is_causal;
  return shape;
}

ModelShape& ModelConfig::shape() {
  options = std::as_const(*this).shape();
  return options.as<ModelShape>();
}

std::string ModelConfig::text() const {
  std::vector<FieldRecord> fields = list_fields(fields_of(all_options()));
  // Texts are older than blocks.
  std::erase_if(fields,
                [](const FieldRecord& field) { return field.path == "block" && field.value == "post_norm"; });
  return fmt::format("{} ({})", kind, joined(fields, ", ", [](const FieldRecord& field) {
                       return fmt::format("{} {}", field.path, field.value);
                     }));
}

}  // namespace che
