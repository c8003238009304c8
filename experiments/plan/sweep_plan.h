#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/node.h"
#include "experiments/plan/run_filter.h"

namespace che {

// One choice on an axis: a value of its key path, or a named variant with several.
struct AxisValue {
  std::string label;  // A variant has one.
  std::vector<Setting> settings;
};

struct Axis {
  std::string name;  // A key path, or the name of an axis of variants.
  ConfigLocation location;
  std::vector<AxisValue> values;
  bool is_override = false;  // One value, which the command line gives in place of the axis.

  bool has_variants() const { return !values.front().label.empty(); }
};

// A setting of a run, and what of the config or of the command line makes it.
struct RunSetting {
  const Setting* setting;
  const Axis* axis = nullptr;        // Null for an override of what is no axis.
  const AxisValue* value = nullptr;  // The choice on the axis.

  bool is_override() const { return axis == nullptr || axis->is_override; }
};

// A config file with the command line's overrides, before it is expanded.
struct SweepPlan {
  ConfigLocation file;
  std::string name;
  std::string description;
  std::vector<std::string> extends;  // The files of `bases` but the last, the nearest first.
  std::vector<ConfigNode>
      bases;  // Maps, applied one after the other: those of configs that it extends first.
  std::vector<Axis> axes;
  std::vector<Setting> overrides;  // Those of settings that are no axis.
  std::vector<RunFilter> exclude;
  std::vector<RunFilter> chosen_by;  // From the command line; all of them must choose a run.

  std::size_t count() const;  // Runs before any is left out; throws Error beyond kMaxRuns.
  // The axes' choices that make up run number `run`, the last axis fastest.
  std::vector<const AxisValue*> choices(std::size_t run) const;
  // The settings of these choices and the overrides, in the order in which they apply: a group before its
  // fields (encoding, then encoding.dape.hidden), and overrides after the axes.
  std::vector<RunSetting> settings(std::size_t run) const;
  VariantLabels labels(std::size_t run) const;
  // " (task=parity_check, seed=0)", empty without axes.
  std::string describe(std::size_t run) const;
};

// Reads a config file as read_sweep describes it, up to the values of settings, which only a run can judge.
// Key paths are in today's names.
SweepPlan read_sweep_plan(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                          const RunConditions& conditions);

}  // namespace che
