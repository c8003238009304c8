// The settings that only evaluation reads: those of a run's encoding, or of its model if that takes none, and
// how a run on a text is measured, such as its protocol, part and windows. Stored rows and the command lines
// of workers name them without the group that they stand in: "scaling".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/run_config.h"

namespace che {

// Returns those of a run that are off their default, by name.
OptionValues evaluation_settings(const RunConfig& config);

// Returns whether a run has every setting that is named in these.
bool has_evaluation_settings(const RunConfig& config, const OptionValues& settings);

// Returns the run with these, and with every other such setting at its default. Throws Error for settings
// that its encoding or model does not have, and for values that they do not take.
RunConfig with_evaluation_settings(const RunConfig& config, const OptionValues& settings);

// Returns the run as a stored row with these measured it. Throws Error, too, where they are not as
// evaluation_settings writes them or have no effect: they would make a column of their own.
RunConfig config_of_row(const RunConfig& config, const OptionValues& settings);

// Returns the run with these changed and its others as they are, but those that have no effect beside these:
// without scaling, beta_fast is at its default. Throws Error as with_evaluation_settings does.
RunConfig with_changed_settings(const RunConfig& config, const OptionValues& settings);

// Writes settings as stored files and command lines have them: "beta_fast=16;scaling=yarn", sorted by name.
std::string evaluation_settings_text(const OptionValues& settings);

// Reads such a text. Returns nothing for one that evaluation_settings_text cannot give.
std::optional<OptionValues> parse_evaluation_settings(std::string_view text);

// Returns the key paths of all encodings, models and texts, sorted: "encoding.scaling",
// "evaluation.protocol", "model.memory_size_test".
std::vector<std::string> all_evaluation_paths();

}  // namespace che
