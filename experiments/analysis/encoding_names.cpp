#include "experiments/analysis/encoding_names.h"

#include <algorithm>

#include "core/suggestion.h"

namespace che {

std::string known_encodings_hint(std::string_view name, const std::vector<EncodingLabel>& known) {
  std::vector<std::string> texts;
  texts.reserve(known.size());
  for (const EncodingLabel& label : known) texts.push_back(label.text());
  const auto of_form =
      std::ranges::find(known, name, [](const EncodingLabel& label) { return label.form.text(); });
  return names_hint(of_form == known.end() ? closest_name(name, texts) : of_form->text(), texts);
}

}  // namespace che
