#include "core/new_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "core/temporary_name.h"

namespace che {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, std::string_view reason) {
  throw Error(fmt::format("cannot make '{}': {}", path.string(), reason), ErrorKind::kRuntime);
}

Descriptor open_folder(const fs::path& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Returns false, with errno set, where another process has locked it, or where folders cannot be locked.
bool lock(const Descriptor& folder) { return ::flock(folder.value(), LOCK_EX | LOCK_NB) == 0; }

bool is_at(const Descriptor& folder, const fs::path& path) {
  struct stat own {};
  struct stat there {};
  return folder.is_open() && ::fstat(folder.value(), &own) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

// Removes the folders that killed processes left of `path`.
void clear_unlocked_folders(const fs::path& path) {
  std::error_code error;
  const fs::path around = path.has_parent_path() ? path.parent_path() : ".";
  for (const fs::path& entry : entries_of(around, error)) {
    if (!is_temporary_name_of(path, entry.filename().string())) continue;
    const Descriptor folder = open_folder(entry);
    if (!folder.is_open() || !lock(folder) || !is_at(folder, entry)) continue;
    // It is renamed first. A process that still writes it, without a lock here, then finds all of it gone.
    const fs::path removed = around / temporary_name(path);
    fs::rename(entry, removed, error);
    if (!error) fs::remove_all(removed, error);
  }
}

}  // namespace

NewFolder::NewFolder(fs::path path) : path_(std::move(path)) {
  clear_unlocked_folders(path_);
  while (true) {
    begun_ = path_.parent_path() / temporary_name(path_);
    if (::mkdir(begun_.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      fail(path_, std::strerror(errno));
    }
    folder_ = open_folder(begun_);
    if (!folder_.is_open() && errno != ENOENT) fail(path_, std::strerror(errno));
    // Another process may have cleared it before it was locked.
    if (folder_.is_open() && (lock(folder_) || errno != EWOULDBLOCK) && is_at(folder_, begun_)) return;
  }
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!is_finished_) fs::remove_all(begun_, ignored);
}

void NewFolder::finish() {
  if (!is_at(folder_, begun_)) fail(path_, "another process has removed what was written");
  std::error_code error;
  fs::rename(begun_, path_, error);
  if (error) fail(path_, error.message());
  is_finished_ = true;
}

}  // namespace che
