#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/descriptor.h"

struct ZSTD_DCtx_s;  // Zstandard's.

namespace che {

// Reads a file that the user named part by part, so that memory does not grow with it. A file that is
// compressed with Zstandard comes decompressed.
class InputFile {
 public:
  // Throws Error as open_input_file does.
  explicit InputFile(const std::filesystem::path& path);
  // Reads content in memory in the same way. It outlives this object, and messages call it `path`.
  InputFile(std::string_view content, std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Returns the next part, which is valid until the next call; empty at the end. Throws Error as read_part
  // does, and (usage) for compressed content that is damaged or cut off.
  std::string_view next();

 private:
  struct FreeStream {
    void operator()(ZSTD_DCtx_s* stream) const;
  };

  // Finds out whether the content is compressed.
  void begin();
  void fill();
  std::string_view next_decompressed();

  std::filesystem::path path_;
  Descriptor file_;
  std::string buffer_;
  std::string_view raw_;                             // Has been read and not handed on.
  std::unique_ptr<ZSTD_DCtx_s, FreeStream> stream_;  // Null unless the content is compressed.
  std::string decompressed_;
  bool is_in_frame_ = false;
};

}  // namespace che
