#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config/reader.h"
#include "experiments/plan/run_config.h"
#include "experiments/plan/sweep_plan.h"

namespace che {

// Which fields of RunConfig each setting of a sweep writes, whichever way it is written: randomized_rope for
// `encoding` writes encoding.name and encoding.positions.
class WrittenFields {
 public:
  // Applies the setting to `run`, which must have what the setting is inside. The first call for a setting
  // notes what it writes; `setting` must not move until the last call. Throws Error
  // (usage) where assign_path does.
  void apply(const Setting& setting, RunConfig& run);

  // Whether both were applied and write one field.
  bool share_a_field(const Setting& one, const Setting& other) const;

  // Throws Error (usage) when two of a run's settings, all of them applied, write one field. Only an override
  // of what named variants set is allowed to.
  void check_apart(const std::vector<RunSetting>& settings) const;

 private:
  std::map<const Setting*, std::vector<std::string>> fields_;
};

}  // namespace che
