#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/node.h"
#include "core/config/reader.h"
#include "experiments/plan/run_config.h"

namespace che {

// Runs that a config may have.
inline constexpr std::size_t kMaxRuns = 10'000;

// Labels of the named variants that a run is made of, by the name of their axis.
using VariantLabels = std::map<std::string, std::string>;

// The axes of named variants of a sweep, each with its labels.
using VariantAxes = std::map<std::string, std::vector<std::string>>;

// A run that filters are asked about.
struct AskedRun {
  AskedRun(const RunConfig& run, VariantLabels run_labels);

  const RunConfig& config;
  VariantLabels labels;
  std::vector<FieldRecord> fields;
};

// Matches runs by settings: {task: parity_check, encoding: [rope, kerple], seed: 0:4}. A run matches when
// every key holds one of its values: a setting holds when assigning it to the run changes nothing, the mere
// name of a task or an encoding whatever its settings, and an axis of named variants holds the run's label.
class RunFilter {
 public:
  // Throws Error (usage) for what is no such map, and for an unknown label.
  RunFilter(const ConfigNode& map, std::string_view path, const VariantAxes& variants);

  // Takes a time that does not grow with the single values that a key may hold, but for the first run of
  // each structure.
  bool matches(const AskedRun& run);

  // After every run was asked about: throws what is wrong with a key or a value that no run can hold,
  // such as a misspelt one. `of_unknown_keys` is added to what is said of keys that are no settings.
  void check_made_sense(std::string_view of_unknown_keys = "") const;

  bool has_matched() const { return has_matched_; }  // Some run that it was asked about.
  // Where no run of `runs` holds any value of one of its keys: what they have there, such as "encoding is
  // none, rope, dape_kerple"; empty where each key holds a value in some of them.
  std::string held_instead(const std::vector<RunConfig>& runs);
  // After every run was asked about: the single values of its lists that none of them holds, such as
  // "seed=7". Values of a range are not named: its end may lie beyond the runs.
  std::vector<std::string> unheld_values() const;
  const ConfigLocation& location() const { return location_; }

 private:
  struct Value {
    ConfigNode node;
    bool made_sense = false;  // To some run.
    bool is_held = false;     // By some run, of single values.
    std::optional<Error> problem{};
  };
  struct Condition {
    std::string key;
    bool is_variant = false;
    bool is_setting = false;  // Its first part, at least.
    std::vector<Value> values{};
    bool has_maps = false;  // Among the values.
    bool is_list = false;   // Not one value or a range.
    // What runs of a structure hold when they hold one of the single values, and which ones. It depends on
    // the structural fields around the key what a value means for it.
    std::map<std::string, std::map<std::string, std::vector<std::size_t>>> held_by_structure{};
    // Whether a run holds one of the maps, by structure and what the run has at the key.
    std::map<std::string, bool> maps_hold{};
  };

  bool holds(Condition& condition, const AskedRun& run);
  bool matches(Condition& condition, const AskedRun& run);

  ConfigLocation location_;
  std::string prefix_;  // Of its key paths in messages.
  bool has_matched_ = false;
  std::vector<Condition> conditions_;
  std::vector<std::string> variant_axes_;
};

// Reads "key=value" from a command line, as parse_setting does; refuses key paths of a config file ("base.").
Setting parse_override(const std::string& text, std::string_view example);

// The filters of a command line, one per "key=value", which all must match. Throws Error (usage) as the
// constructor does.
std::vector<RunFilter> filters_of(const std::vector<std::string>& conditions, const VariantAxes& variants);

}  // namespace che
