#include "models/settings/model_entry.h"

#include <fmt/format.h>

#include "core/config/field_list.h"
#include "core/text.h"

namespace che {

void ModelConfig::visit_fields(FieldVisitor& visit) {
  visit.choice({.name = "kind", .help = "which kind of model", .structural = true}, kind,
               Registry<ModelEntry>::instance().names());
  options = all_options();
  options.visit_fields(visit);
}

ModelShape& ModelConfig::shape() {
  options = all_options();
  return options.as<ModelShape>();
}

std::string ModelConfig::text() const {
  return fmt::format("{} ({})", kind,
                     joined(list_fields(fields_of(all_options())), ", ", [](const FieldRecord& field) {
                       return fmt::format("{} {}", field.path, field.value);
                     }));
}

}  // namespace che
