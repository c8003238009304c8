#include "models/settings/encoding_entry.h"

namespace che {

const std::vector<std::string>& DapeOptions::variant_words() {
  static const std::vector<std::string> words = {"concat_residual",    "concat", "add_residual",
                                                 "bias_only_residual", "add",    "bias_only",
                                                 "attention_only"};
  return words;
}

void DapeOptions::visit_fields(FieldVisitor& visit) {
  visit.integer({"hidden", "hidden units of f, D"}, hidden, 1, 4'096);
  visit.choice({"variant", "how logits A and bias B enter: concat_residual is A + B + f([A; B])"}, variant,
               variant_words());
  visit.choice({"kernel", "f over each key alone, or as two convolutions over neighbouring keys (DAPE V2)"},
               kernel, {"1x1", "1x3"});
}

}  // namespace che
