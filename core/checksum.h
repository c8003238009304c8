#pragma once

#include <string>
#include <string_view>

namespace che {

// 16 hexadecimal digits that change with `text`, and with `key`: what the text belongs to, so that a
// file which is whole but of another owner is told too. Guards against damage, not against intent.
std::string checksum(std::string_view key, std::string_view text);

}  // namespace che
