#include "core/checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace che {

std::string checksum(std::string_view key, std::string_view text) {
  return fmt::format("{:016x}",
                     XXH3_64bits_withSeed(text.data(), text.size(), XXH3_64bits(key.data(), key.size())));
}

}  // namespace che
