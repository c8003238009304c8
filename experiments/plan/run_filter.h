#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/node.h"
#include "experiments/plan/run_config.h"

namespace che {

// Runs that a config may have.
inline constexpr std::size_t kMaxRuns = 10'000;

// Labels of the named variants that a run is made of, by the name of their axis.
using VariantLabels = std::map<std::string, std::string>;

// The axes of named variants of a sweep, each with its labels.
using VariantAxes = std::map<std::string, std::vector<std::string>>;

// The conditions of a command line, each "key=value": runs that hold all of `only` and none of `skip`.
struct RunConditions {
  std::vector<std::string> only = {};
  std::vector<std::string> skip = {};
};

// A run with its fields, as filters see it.
struct AskedRun {
  AskedRun(const RunConfig& run, VariantLabels run_labels);

  // Returns the run with its test lengths as tables show them, made once; null where its config has them so.
  const AskedRun* with_exact_lengths() const;

  const RunConfig& config;
  VariantLabels labels;
  std::vector<FieldRecord> fields;

 private:
  struct Exact;
  mutable std::optional<std::shared_ptr<const Exact>> exact_;
};

// Matches runs by settings: {task: parity_check, encoding: [rope, kerple], seed: 0:4}. A run matches when
// every key holds one of its values. The mere name of a task or an encoding, and the name or the folder of a
// corpus, hold whatever the settings. A map holds when assigning it to the run changes nothing. An axis of
// named variants holds the run's label.
class RunFilter {
 public:
  // Throws Error (usage) for what is no such map, and for an unknown label.
  RunFilter(const ConfigNode& map, std::string_view path, const VariantAxes& variants);

  // Remembers which values some run holds, for the functions below.
  bool matches(const AskedRun& run);
  // Whether the run is one of those that this option of the command line chooses.
  bool chooses(const AskedRun& run) { return matches(run) != is_skip_; }
  // "--only" or "--skip"; of a config's `exclude`, neither.
  std::string_view option() const { return is_skip_ ? "--skip" : "--only"; }

  // After every run was matched: throws what is wrong with a key or a value that no run can hold,
  // such as a misspelt one. `of_unknown_keys` is added to what is said of keys that are no settings.
  void check_made_sense(std::string_view of_unknown_keys = "") const;

  bool has_matched() const { return has_matched_; }  // Any run.
  // If no run of `runs` holds any value of one of the keys: what they have there, such as "encoding is
  // none, rope, dape_kerple". Empty where each key holds a value in some of them.
  std::string held_instead(const std::vector<RunConfig>& runs);
  // After every run was matched: the single values of lists that none of them holds, such as "seed=7". Values
  // of a range are not named: its end may lie beyond the runs. Of a --skip that leaves out none, all of it.
  std::vector<std::string> unheld_values() const;
  const ConfigLocation& location() const { return location_; }

 private:
  friend std::vector<RunFilter> filters_of(const RunConditions& conditions, const VariantAxes& variants);

  struct Value {
    ConfigNode node;
    std::map<std::string, double> numbers{};  // Those in a map, by key path.
    bool made_sense = false;                  // Some run could have it.
    bool is_held = false;                     // Some run has it; for single values.
    std::optional<Error> problem{};
  };
  struct Condition {
    std::string key;
    bool is_variant = false;
    bool is_setting = false;  // Its first part, at least.
    bool is_list = false;     // Not one value or a range.
    std::vector<Value> values{};
    std::multimap<std::string, std::size_t> singles{};  // Values that are no maps, by their canonical text.
    // The meaning of values depends on whether a run has the key, and on the structural fields around it:
    // those that runs had.
    std::set<std::string> structures{};
    std::map<std::string, bool> maps_hold{};  // Whether a map holds, by what the run has at the key.
  };

  void try_values(Condition& condition, const AskedRun& run);
  bool holds(Condition& condition, const AskedRun& run);
  bool matches(Condition& condition, const AskedRun& run);

  ConfigLocation location_;
  std::string prefix_;  // Precedes its key paths in messages.
  bool has_matched_ = false;
  bool is_skip_ = false;
  std::vector<Condition> conditions_;
  std::vector<std::string> variant_axes_;
};

// Reads "key=value" from a command line, as parse_setting does; refuses key paths of a config file ("base.").
Setting parse_override(const std::string& text, std::string_view example);

// The filters of a command line, one per condition, all of which must choose a run. Throws Error (usage) as
// the constructor does.
std::vector<RunFilter> filters_of(const RunConditions& conditions, const VariantAxes& variants);

// Names the options that these filters come from: "--only", "--skip" or "--only and --skip".
std::string options_text(const std::vector<RunFilter>& filters);

}  // namespace che
