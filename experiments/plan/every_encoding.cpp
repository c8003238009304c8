#include "experiments/plan/every_encoding.h"

#include "models/settings/encoding_entry.h"

namespace che {

std::vector<NamedEncoding> every_encoding() {
  std::vector<NamedEncoding> all;
  const auto add = [&](const std::string& shorthand) {
    all.push_back({.name = shorthand, .config = {}});
    all.back().config.reset(shorthand);
  };
  const auto add_version_2 = [&](const std::string& base) {
    add("dape_" + base);
    all.back().name = "dape_v2_" + base;
    all.back().config.dape->kernel = "1x3";
  };
  for (const std::string& name : Registry<EncodingEntry>::instance().names()) {
    const EncodingEntry& entry = Registry<EncodingEntry>::instance().get(name);
    add(name);
    if (entry.reads_positions) add("randomized_" + name);
    if (entry.gives_bias || entry.does_nothing) add("dape_" + name);
    if (entry.gives_bias) add("randomized_dape_" + name);
    if (entry.gives_bias || entry.does_nothing) add_version_2(name);
  }
  return all;
}

}  // namespace che
