#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"

namespace che {

// Settings of an encoding that only evaluation reads, by name (see EncodingConfig::evaluation_settings), as
// stored files and the command lines of workers have them: "beta_fast=16;scaling=yarn", sorted by name.
std::string evaluation_settings_text(const OptionValues& settings);

// Nothing for a text that evaluation_settings_text cannot give.
std::optional<OptionValues> parse_evaluation_settings(std::string_view text);

// The names of such settings that any encoding has, sorted.
std::vector<std::string> all_evaluation_setting_names();

}  // namespace che
