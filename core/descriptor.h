#pragma once

#include <unistd.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace che {

// An open file descriptor, closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      value_ = std::exchange(other.value_, -1);
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int value() const { return value_; }
  bool is_open() const { return value_ >= 0; }
  // False, with errno set, when the system reports a late write error.
  bool close() { return value_ < 0 || ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

// The lines that come through a pipe.
class LineReader {
 public:
  explicit LineReader(Descriptor from = Descriptor()) : from_(std::move(from)) {}

  int descriptor() const { return from_.value(); }
  // Waits until something can be read, and passes on each line that is whole then; returns false at the end.
  bool read(const std::function<void(std::string_view)>& take);

 private:
  Descriptor from_;
  std::string partial_line_;
};

// Locks a whole file against all other descriptors; the system releases it when this one is closed or its
// process ends. False with errno set, EAGAIN or EACCES when another one holds it.
bool lock_whole_file(const Descriptor& file);

// A file in memory that a child process reads or writes. Unlike a pipe it neither fills up while the other
// side waits nor raises SIGPIPE when that side ends early. Throws Error (runtime) when there is no memory.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name);

  int descriptor() const { return file_.value(); }
  std::string text() const;

 private:
  Descriptor file_;
};

}  // namespace che
