#include "core/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

#include "core/file_lock.h"
#include "core/temporary_name.h"

namespace che {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string_view verb, const fs::path& path, std::string_view reason, ErrorKind kind) {
  throw Error(fmt::format("cannot {} '{}': {}", verb, path.string(), reason), kind);
}

[[noreturn]] void fail(std::string_view verb, const fs::path& path, ErrorKind kind) {
  if (errno == ENOSPC || errno == EDQUOT) {
    throw NoRoom(fmt::format("cannot {} '{}': {}", verb, path.string(), std::strerror(errno)));
  }
  fail(verb, path, std::strerror(errno), kind);
}

std::string kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISLNK(mode)) return "a symbolic link";
  return "a device";
}

[[noreturn]] void refuse_kind(std::string_view verb, const fs::path& path, mode_t mode, ErrorKind kind,
                              std::string_view remedy = "") {
  fail(verb, path, fmt::format("it is {}, not a regular file{}", kind_name(mode), remedy), kind);
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

// A network file system may know a file that another machine has replaced by its old handle: it says so once,
// and finds the new file when the path is opened again.
int open_again_if_stale(const fs::path& path, int flags) {
  const int file = ::open(path.c_str(), flags, 0666);
  return file < 0 && errno == ESTALE ? ::open(path.c_str(), flags, 0666) : file;
}

ssize_t read_once(const Descriptor& file, std::span<char> buffer) {
  while (true) {
    const ssize_t count = ::read(file.value(), buffer.data(), buffer.size());
    if (count >= 0 || errno != EINTR) return count;
  }
}

// Nothing when there are more than `max_bytes`, or when the file's handle is stale.
std::optional<std::string> read_all(const Descriptor& file, const fs::path& path, std::size_t max_bytes,
                                    bool* is_stale = nullptr) {
  std::string content;
  std::string buffer(std::size_t{1} << 16, 0);
  while (content.size() <= max_bytes) {
    const ssize_t count = read_once(file, buffer);
    if (count < 0 && errno == ESTALE && is_stale != nullptr) {
      *is_stale = true;
      return std::nullopt;
    }
    if (count < 0) fail("read", path, error_kind_of(errno));
    if (count == 0) return content;
    content.append(buffer, 0, static_cast<std::size_t>(count));
  }
  return std::nullopt;
}

// Some network file systems cannot sync a folder and say so; nothing can be done about it.
bool sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return false;
  return ::fsync(descriptor.value()) == 0 || errno == EINVAL || errno == ENOTSUP;
}

// "/dev/stdout", "/dev/fd/3" and the like lead to /proc/<this process>/fd/N: opening such a link would not
// share the descriptor's position, and for a redirected one would name the file behind it. Follows links up
// to that point or to the end; returns N, or -1.
int follow_to_descriptor(fs::path& path) {
  constexpr int kMaxLinks = 40;  // As the system's limit.
  std::error_code error;
  const fs::path own_descriptors = fs::canonical("/proc/self/fd", error);
  for (int links = 0; links < kMaxLinks && fs::is_symlink(path, error); ++links) {
    const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
    if (error) return -1;
    if (!own_descriptors.empty() && folder == own_descriptors) {
      const std::string name = path.filename().string();
      int number = -1;
      std::from_chars(name.data(), name.data() + name.size(), number);
      return number;
    }
    const fs::path target = fs::read_symlink(path, error);
    if (error) return -1;
    path = folder / target;
  }
  return -1;
}

void write_into(const Descriptor& file, const fs::path& path, std::string_view content) {
  if (!file.is_open() || !write_all(file.value(), content)) fail("write", path, ErrorKind::kRuntime);
}

// Deletes the files in `folder` with such a name, those that no process has locked or all.
template <typename HasName>
std::error_code clear(const fs::path& folder, TemporaryFiles which, const HasName& has_name) {
  std::error_code error;
  for (const fs::path& path : entries_of(folder, error)) {
    if (error) break;
    if (!has_name(path.filename().string())) continue;
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    const bool is_file = file.is_open() && ::fstat(file.value(), &status) == 0 && S_ISREG(status.st_mode) &&
                         (which == TemporaryFiles::kAll || lock_whole_file(file));
    if (is_file && ::unlink(path.c_str()) != 0 && errno != ENOENT) error = {errno, std::generic_category()};
  }
  return error;
}

}  // namespace

Descriptor open_regular_file(const fs::path& path, int flags, std::string_view verb,
                             ErrorKind kind_if_irregular, std::string_view remedy) {
  check_name(path);
  // O_NONBLOCK: a FIFO is opened without a writer, and then refused; regular files know no difference.
  Descriptor file(open_again_if_stale(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open()) {
    const int reason = errno;
    // Sockets, and FIFOs for writing, cannot be opened; of links the system says no more than ELOOP.
    if ((reason == ELOOP || reason == ENXIO || reason == EISDIR) && ::lstat(path.c_str(), &status) == 0 &&
        !S_ISREG(status.st_mode)) {
      refuse_kind(verb, path, status.st_mode, kind_if_irregular, remedy);
    }
    fail(verb, path, std::strerror(reason), error_kind_of(reason));
  }
  if (::fstat(file.value(), &status) != 0) fail(verb, path, error_kind_of(errno));
  if (!S_ISREG(status.st_mode)) refuse_kind(verb, path, status.st_mode, kind_if_irregular, remedy);
  return file;
}

std::string read_file(const fs::path& path, std::size_t max_bytes) {
  const auto open = [&] {
    Descriptor file = open_regular_file(path, O_RDONLY, "read", ErrorKind::kUsage);
    struct stat status {};
    if (::fstat(file.value(), &status) == 0 && std::cmp_greater(status.st_size, max_bytes)) {
      fail("read", path, fmt::format("it has {} bytes; allowed: {}", status.st_size, max_bytes),
           ErrorKind::kUsage);
    }
    return file;
  };
  bool is_stale = false;
  std::optional<std::string> content = read_all(open(), path, SIZE_MAX, &is_stale);
  return content ? *std::move(content) : read_open_file(open(), path);
}

std::string read_open_file(const Descriptor& file, const fs::path& path) {
  return read_all(file, path, SIZE_MAX).value();
}

Descriptor open_input_file(const fs::path& path) {
  check_name(path);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.value(), &status) != 0) fail("read", path, error_kind_of(errno));
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    refuse_kind("read", path, status.st_mode, ErrorKind::kUsage);
  }
  return file;
}

std::size_t read_part(const Descriptor& file, const fs::path& path, std::span<char> buffer) {
  const ssize_t count = read_once(file, buffer);
  if (count < 0) fail("read", path, error_kind_of(errno));
  return static_cast<std::size_t>(count);
}

void read_at(const Descriptor& file, const fs::path& path, std::int64_t first, std::span<char> buffer) {
  while (!buffer.empty()) {
    const ssize_t count = ::pread(file.value(), buffer.data(), buffer.size(), first);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", path, error_kind_of(errno));
    if (count == 0) fail("read", path, fmt::format("it ends at byte {}", first), ErrorKind::kUsage);
    buffer = buffer.subspan(static_cast<std::size_t>(count));
    first += count;
  }
}

std::string read_input_file(const fs::path& path, std::size_t max_bytes) {
  const Descriptor file = open_input_file(path);
  struct stat status {};
  const bool is_longer = ::fstat(file.value(), &status) == 0 && std::cmp_greater(status.st_size, max_bytes);
  std::optional<std::string> content;
  if (!is_longer) content = read_all(file, path, max_bytes);
  if (!content) fail("read", path, fmt::format("longer than {} bytes", max_bytes), ErrorKind::kUsage);
  return *std::move(content);
}

fs::path link_target(const fs::path& path) {
  std::error_code error;
  fs::path target = fs::canonical(path, error);
  return error ? path : target;
}

bool is_present(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return true;
  if (errno != ENOENT && errno != ENOTDIR) fail("read", path, error_kind_of(errno));
  return false;
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path relative = fs::relative(file, folder.empty() ? "." : folder, error);
  return !relative.empty() && *relative.begin() != "..";
}

std::vector<fs::path> entries_of(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> entries;
  fs::directory_iterator entry(folder, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::ranges::sort(entries);
  return entries;
}

std::error_code create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error == std::errc::file_exists) error = {ENOENT, std::generic_category()};  // Said of such a link.
  return error;
}

void remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) fail("remove", path, error.message(), ErrorKind::kRuntime);
}

FileReplacement::FileReplacement(const fs::path& path)
    : path_(path), folder_(path.has_parent_path() ? path.parent_path() : ".") {
  // O_EXCL: a name that somebody else made, as a file or a link, is not used.
  do {
    temporary_ = folder_ / temporary_name(path);
    file_ =
        Descriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file_.is_open() && errno != EEXIST) fail("write", path, ErrorKind::kRuntime);
  } while (!file_.is_open() || was_cleared());
}

FileReplacement::~FileReplacement() {
  if (!is_finished_) ::unlink(temporary_.c_str());
}

// The temporary file is locked while it is written, so that clear() knows it from those of killed processes.
// This says whether clear() came between the creation and the lock. File systems without locks have no such
// moment, as they give clear() none either.
bool FileReplacement::was_cleared() const {
  if (!lock_whole_file(file_) && (errno == EAGAIN || errno == EACCES)) return true;
  struct stat status {};
  return ::fstat(file_.value(), &status) == 0 && status.st_nlink == 0;
}

void FileReplacement::write(std::string_view content) {
  if (!write_all(file_.value(), content)) fail("write", path_, ErrorKind::kRuntime);
}

void FileReplacement::finish() {
  struct stat status {};
  if (::lstat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    refuse_kind("write", path_, status.st_mode, ErrorKind::kRuntime);
  }
  if (::fsync(file_.value()) != 0) fail("write", path_, ErrorKind::kRuntime);
  FileLock::check_held(folder_);
  // Renamed before it is closed: once it is closed its lock is gone.
  is_finished_ = ::rename(temporary_.c_str(), path_.c_str()) == 0 || (errno == ENOENT && is_at_path());
  if (const int reason = errno; !is_finished_) {
    FileLock::check_held(folder_);  // Who took the folder over removed the temporary file.
    errno = reason;
  }
  if (!is_finished_ || !file_.close()) fail("write", path_, ErrorKind::kRuntime);
  if (!sync_folder(folder_)) fail("make durable", path_, ErrorKind::kRuntime);
  // What is there is now whole. A folder that cannot be listed can still be written to.
  static_cast<void>(clear(folder_, TemporaryFiles::kOfTheDead,
                          [&](std::string_view name) { return is_temporary_name_of(path_, name); }));
}

bool FileReplacement::finish_new() {
  if (::fsync(file_.value()) != 0) fail("write", path_, ErrorKind::kRuntime);
  if (::link(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    if (reason == EPERM || reason == EOPNOTSUPP || reason == ENOSYS || reason == EMLINK) {
      fail("write", path_,
           fmt::format("{}; locks need a file system with hard links: name a folder on another one with "
                       "--output",
                       std::strerror(reason)),
           ErrorKind::kRuntime);
    }
    // Without the temporary file: another machine, for which it was not locked, has cleared it.
    errno = reason;
    if (reason != EEXIST && reason != ENOENT) fail("write", path_, ErrorKind::kRuntime);
    if (!is_at_path()) return false;
  }
  is_finished_ = true;
  ::unlink(temporary_.c_str());
  return true;
}

// Whether the file has its name though the system says otherwise: when the answer of a file server is lost,
// the client asks again, and the server refuses what it has done.
bool FileReplacement::is_at_path() const {
  struct stat own {};
  struct stat there {};
  return ::fstat(file_.value(), &own) == 0 && ::lstat(path_.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  FileReplacement file(path);
  file.write(content);
  file.finish();
}

void write_output(const fs::path& path, std::string_view content) {
  check_name(path);
  fs::path target = path;
  const int descriptor = follow_to_descriptor(target);
  if (descriptor >= 0) {
    std::fflush(stdout);  // What was printed before comes first.
    return write_into(Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)), path, content);
  }
  struct stat status {};
  if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) refuse_kind("write", path, status.st_mode, ErrorKind::kUsage);
    return write_into(Descriptor(::open(target.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC)), path, content);
  }
  write_file_atomically(target, content);
}

void remove_temporary_files(const fs::path& folder, TemporaryFiles which) {
  if (const std::error_code error = clear(folder, which, is_temporary_name)) {
    throw Error(fmt::format("cannot clear '{}' of temporary files: {}", folder.string(), error.message()),
                ErrorKind::kRuntime);
  }
}

fs::path set_aside(const fs::path& path, std::string_view ending) {
  const std::string first = fmt::format("{}.{}", path.string(), ending);
  fs::path aside = first;
  for (int i = 2; is_present(aside); ++i) aside = fmt::format("{}.{}", first, i);
  std::error_code error;
  fs::rename(path, aside, error);
  if (error) {
    throw Error(fmt::format("cannot move '{}' aside: {}", path.string(), error.message()),
                ErrorKind::kRuntime);
  }
  return aside;
}

}  // namespace che
