#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"

namespace che {

// What a results folder holds besides the runs of a config, and in which settings these have values that no
// run of the config has: "results/quick holds 2 stored runs that are not of this config; they differ in
// training.steps (2000)". Nothing where it holds no others; what cannot be read does not count.
std::optional<std::string> other_runs(const std::vector<RunConfig>& runs,
                                      const std::filesystem::path& experiment);

// Which of these runs were trained to their end and evaluated otherwise, such as at other lengths, than asked
// of them now, and what becomes of that: "2 finished runs were evaluated otherwise before, ...". `retrain`:
// whether those without a model are trained again. Nothing where there are none; what cannot be read does
// not count.
std::optional<std::string> evaluated_otherwise(const std::vector<RunConfig>& runs,
                                               const std::filesystem::path& experiment, bool retrain);

}  // namespace che
