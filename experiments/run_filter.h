#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_tree.h"
#include "experiments/config.h"

namespace che {

// Labels of the named variants that a run is made of, by the name of their axis.
using VariantLabels = std::map<std::string, std::string>;

// The axes of named variants of a sweep, each with its labels.
using VariantAxes = std::map<std::string, std::vector<std::string>>;

// Matches runs by settings: {task: parity_check, encoding: [rope, kerple], seed: 0:4}. A run matches when
// every key holds one of its values: a setting holds when assigning it to the run changes nothing, a name
// alone of a task or an encoding whatever its settings, and an axis of named variants holds the run's label.
class RunFilter {
 public:
  // Throws Error (usage) for what is no such map, and for an unknown label.
  RunFilter(const ConfigNode& map, std::string_view path, const VariantAxes& variants);

  bool matches(const RunConfig& run, const VariantLabels& labels);

  // After every run was asked about: throws what is wrong with a key or a value that no run can hold,
  // such as a misspelt one.
  void check_made_sense() const;

 private:
  struct Value {
    ConfigNode node;
    bool made_sense = false;  // To some run.
    std::optional<Error> problem{};
  };
  struct Condition {
    std::string key;
    bool is_variant = false;
    std::vector<Value> values{};
  };

  static bool holds(Value& value, const std::string& key, const RunConfig& run, const std::string& yaml);

  std::vector<Condition> conditions_;
};

}  // namespace che
