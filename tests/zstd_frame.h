#pragma once

#include <zstd.h>

#include <string>

namespace che {

inline std::string zstd_frame(const std::string& content) {
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 3));
  return frame;
}

}  // namespace che
