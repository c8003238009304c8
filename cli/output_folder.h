#pragma once

#include <string>
#include <string_view>

namespace che {

// Throws Error (usage) where `file`, which the option ("--json") names, would lie in a folder that is not
// there: before the work whose result it takes. An empty name is no file.
void check_output_folder(std::string_view option, const std::string& file);

}  // namespace che
