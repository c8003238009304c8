#pragma once

#include <string>
#include <string_view>

namespace che {

// Returns the SHA-256 of a text: 32 bytes.
std::string sha256_bytes(std::string_view text);
// The same as `sha256sum` prints it: 64 hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace che
