#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/config/field_list.h"
#include "experiments/plan/run_config.h"

namespace che {

// Returns the settings that change results or tell repetitions apart (all but those of execution) by key
// path. The test lengths are those of with_exact_lengths, so that one set of lengths has one spelling.
using SettingsByPath = std::map<std::string, FieldRecord>;
SettingsByPath settings_by_path(RunConfig config);

// Values of runs by key path; "absent" where a run lacks an optional part, such as encoding.dape.
using Differences = std::map<std::string, std::set<std::string>>;

// Returns the values of `runs` that none of `others` has. Settings of a task or an encoding that no other run
// has follow from its name and are left out.
Differences differences(const std::vector<RunConfig>& runs, const std::vector<RunConfig>& others);

// Returns the key paths at which the runs differ from each other. A setting that only some have is one.
std::vector<std::string> varied_paths(const std::vector<RunConfig>& runs);

}  // namespace che
