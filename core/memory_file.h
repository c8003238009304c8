#pragma once

#include <string>
#include <string_view>

#include "core/descriptor.h"

namespace che {

// A file in memory that a child process reads or writes. Unlike a pipe it neither fills up while the other
// side waits nor raises SIGPIPE when that side ends early. Throws Error (runtime) when there is no memory.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name);

  int descriptor() const { return file_.value(); }
  // Adds `text`; what reads next begins at the start.
  void write(std::string_view text);
  std::string text() const;

 private:
  Descriptor file_;
};

}  // namespace che
