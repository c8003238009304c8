// With LD_PRELOAD, this library makes files behave like those of some network file systems.
// NETWORK_FILES names what goes wrong:
//   no-locks   there are no file locks (NFS without lockd)
//   no-links   there are no hard links
//   stale      the first open and the first read of each file meet a stale handle
//   lost       rename and link succeed and report a failure, as if the answer got lost
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

namespace {

bool is(const char* what) {
  const char* const wrong = std::getenv("NETWORK_FILES");
  return wrong != nullptr && std::strcmp(wrong, what) == 0;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_result(const char* path) { return std::strstr(path, "/runs/") != nullptr; }

bool is_first(const std::string& what) {
  static std::set<std::string> seen;
  return seen.insert(what).second;
}

int fail(int error) {
  errno = error;
  return -1;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (is("stale") && is_result(path) && (flags & (O_CREAT | O_DIRECTORY)) == 0 && is_first(path)) {
    return fail(ESTALE);
  }
  return real<int(const char*, int, ...)>("open")(path, flags, mode);
}

ssize_t read(int file, void* buffer, std::size_t count) {
  if (is("stale")) {
    char path[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    if (::readlink(link.c_str(), path, sizeof path - 1) > 0 && is_result(path) &&
        is_first(std::string("read ") + path)) {
      return fail(ESTALE);
    }
  }
  return real<ssize_t(int, void*, std::size_t)>("read")(file, buffer, count);
}

int fcntl64(int file, int command, ...) {
  std::va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  if (is("no-locks") && (command == F_OFD_SETLK || command == F_OFD_GETLK)) return fail(ENOLCK);
  return real<int(int, int, ...)>("fcntl64")(file, command, argument);
}

int fcntl(int file, int command, ...) {
  std::va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return fcntl64(file, command, argument);
}

int link(const char* from, const char* to) {
  if (is("no-links")) return fail(EPERM);
  const int result = real<int(const char*, const char*)>("link")(from, to);
  return result == 0 && is("lost") ? fail(EEXIST) : result;
}

int rename(const char* from, const char* to) {
  const int result = real<int(const char*, const char*)>("rename")(from, to);
  return result == 0 && is("lost") ? fail(ENOENT) : result;
}

}  // extern "C"
