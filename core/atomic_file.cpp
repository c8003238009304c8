#include "core/atomic_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"

namespace che {
namespace {

constexpr std::string_view kTemporaryEnding = ".tmp";

// An open file descriptor, closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int value() const { return value_; }
  bool valid() const { return value_ >= 0; }
  // False with errno set when the system reports a late write error.
  bool close() { return value_ < 0 || ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

[[noreturn]] void fail(std::string_view what, const std::filesystem::path& path, Fault fault) {
  throw Error(fmt::format("cannot {} '{}': {}", what, path.string(), std::strerror(errno)), fault);
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Some network file systems cannot sync a folder and say so; there is nothing to be done there.
bool sync_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid()) return false;
  return ::fsync(descriptor.value()) == 0 || errno == EINVAL || errno == ENOTSUP;
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  // The counter keeps threads of one process apart, the process id two processes.
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const std::filesystem::path temporary =
      folder / fmt::format(".{}.{}-{}{}", path.filename().string(), ::getpid(), counter++, kTemporaryEnding);

  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid()) fail("write", path, Fault::kRuntime);
  if (!write_all(file.value(), content) || ::fsync(file.value()) != 0 || !file.close() ||
      ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    fail("write", path, Fault::kRuntime);
  }
  if (!sync_folder(folder)) fail("make durable", path, Fault::kRuntime);
}

void remove_temporary_files(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') && name.ends_with(kTemporaryEnding)) left.push_back(entry.path());
  }
  for (const std::filesystem::path& file : left) {
    if (!error) std::filesystem::remove(file, error);
  }
  if (error) {
    throw Error(fmt::format("cannot clear '{}' of temporary files: {}", folder.string(), error.message()),
                Fault::kRuntime);
  }
}

std::string read_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) fail("read", path, fault_of(errno));
  std::string content;
  std::string buffer(std::size_t{1} << 16, 0);
  while (true) {
    const ssize_t count = ::read(file.value(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", path, fault_of(errno));
    if (count == 0) return content;
    content.append(buffer, 0, static_cast<std::size_t>(count));
  }
}

}  // namespace che
