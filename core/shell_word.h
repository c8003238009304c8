#pragma once

#include <string>
#include <string_view>

namespace che {

// `text` as one word of a shell's command line, in quotes.
std::string quoted_shell_word(std::string_view text);

// The same, in quotes only where a shell would read it otherwise.
std::string shell_word(std::string_view text);

}  // namespace che
