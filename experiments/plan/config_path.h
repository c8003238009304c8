#pragma once

#include <filesystem>

namespace che {

// Throws Error (usage) where there is nothing at `path`, with the config that may be meant.
void check_config_exists(const std::filesystem::path& path);

}  // namespace che
