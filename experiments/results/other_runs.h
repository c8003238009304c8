#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/run_config.h"

namespace che {

// Describes the runs in a results folder that are not of a config. It names the settings in which they have
// values that no run of the config has: "results/quick holds 2 stored runs that are not of this config; they
// differ in training.steps (2000)". Returns nothing if there are no such runs. Runs that cannot be read do
// not count.
std::optional<std::string> other_runs(const std::vector<RunConfig>& runs,
                                      const std::filesystem::path& experiment);

// Describes those of these runs that are finished and were evaluated with other settings, such as other
// lengths. It says what becomes of their scores: "2 finished runs were evaluated otherwise before, ...".
// `retrain` says that runs without a model are trained again. Returns nothing if there are none. Runs that
// cannot be read do not count.
std::optional<std::string> evaluated_otherwise(const std::vector<RunConfig>& runs,
                                               const std::filesystem::path& experiment, bool retrain);

}  // namespace che
