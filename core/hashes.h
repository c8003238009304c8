#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/descriptor.h"

namespace che {

// 16 hexadecimal digits that change with `text`, and with `key`: what the text belongs to, so that a
// file which is whole but of another owner is told too. Guards against damage, not against intent.
std::string checksum(std::string_view key, std::string_view text);

// The SHA-256 of a text: 32 bytes, or 64 hexadecimal digits as `sha256sum` prints it.
std::string sha256_bytes(std::string_view text);
std::string sha256(std::string_view text);
// The digits for the first `bytes` of a file that is open, in parts. Throws Error as read_at does.
std::string sha256(const Descriptor& file, const std::filesystem::path& path, std::int64_t bytes);

}  // namespace che
