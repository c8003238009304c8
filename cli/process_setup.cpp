#include "cli/process_setup.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "core/error.h"

namespace che {
namespace {

volatile std::sig_atomic_t reader_is_gone = 0;

void note_closed_pipe(int) { reader_is_gone = 1; }

// Memory may be too little to load LibTorch's tables, before main() begins.
[[noreturn]] void end_on_exception() {
  constexpr std::string_view kOutOfMemory =
      "che: out of memory: the program does not fit; raise the limit (ulimit -v)\n";
  try {
    if (const std::exception_ptr current = std::current_exception()) std::rethrow_exception(current);
  } catch (const std::bad_alloc&) {
    static_cast<void>(write(STDERR_FILENO, kOutOfMemory.data(), kOutOfMemory.size()) < 0);
    _exit(1);
  } catch (...) {
  }
  std::abort();
}

// MKL does not load without a working directory.
void check_working_directory() {
  constexpr std::string_view kGone =
      "che: the working directory cannot be used: it has been deleted; change to another one\n";
  std::array<char, PATH_MAX> path{};
  if (getcwd(path.data(), path.size()) != nullptr || errno != ENOENT) return;
  static_cast<void>(write(STDERR_FILENO, kGone.data(), kGone.size()) < 0);
  _exit(2);
}

void prepare_loading(int, char**, char**) {
  std::set_terminate(end_on_exception);
  check_working_directory();
}

// The loader calls it before the initialisers of shared libraries.
using Initialiser = void (*)(int, char**, char**);
[[gnu::section(".preinit_array"), gnu::used]] const Initialiser kPrepareLoading = prepare_loading;

void open_standard_streams() {
  // The lowest free descriptor is the one that is opened.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    if (open("/dev/null", descriptor == STDERR_FILENO ? O_RDWR : O_RDONLY) < 0) std::abort();
  }
}

}  // namespace

void set_up_process() {
  open_standard_streams();
  struct sigaction action {};
  // Programs that are started inherit ignored signals, but no handlers.
  action.sa_handler = note_closed_pipe;
  sigaction(SIGPIPE, &action, nullptr);
  // A write beyond the limit of a file's size then fails with a reason, as on a full disk.
  action.sa_handler = [](int) {};
  sigaction(SIGXFSZ, &action, nullptr);
}

void check_output_was_written() {
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written || reader_is_gone != 0) return;
  throw Error(fmt::format("cannot write to standard output: {}", std::strerror(errno)), ErrorKind::kRuntime);
}

}  // namespace che
