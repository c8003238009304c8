#include "cli/process_setup.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "core/error.h"
#include "core/files.h"
#include "core/version.h"

namespace che {
namespace {

volatile std::sig_atomic_t reader_is_gone = 0;

void note_closed_pipe(int) { reader_is_gone = 1; }

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
  std::error_code error;
  if (std::filesystem::current_path(error).empty()) {
    throw Error("the working directory cannot be used: it has been deleted; change to another one");
  }
  struct sigaction action {};
  // The system forgets how workers ended if the program inherits that SIGCHLD is ignored.
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, nullptr);
  // Programs that are started inherit ignored signals, but no handlers.
  action.sa_handler = note_closed_pipe;
  sigaction(SIGPIPE, &action, nullptr);
  // A write beyond the limit of a file's size then fails with a reason, as on a full disk.
  action.sa_handler = [](int) {};
  sigaction(SIGXFSZ, &action, nullptr);
  // glibc takes huge pages and keeps freed memory for the next step, which saves page faults. Blocks above
  // 64 MiB go back at once, or those of several sizes would add up.
  // It reads this when a program starts, so that it holds for che-compute. A user's own choice stays, here
  // and below.
  ::setenv("GLIBC_TUNABLES",
           "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=67108864:"
           "glibc.malloc.trim_threshold=8589934592",
           0);
  // OpenMP's threads sleep while they wait. Spinning is hardly faster on idle cores, and takes busy ones from
  // the threads that are waited for.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
}

void check_output_was_written() {
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written || reader_is_gone != 0) return;
  throw Error(fmt::format("cannot write to standard output: {}", std::strerror(errno)), ErrorKind::kRuntime);
}

std::filesystem::path program_file(std::string_view name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

std::filesystem::path compute_program() {
  std::filesystem::path program = program_file("che-compute");
  if (!std::filesystem::exists(program)) {
    throw Error(
        fmt::format("this needs {}, which is missing; `scripts/setup.sh` in the source tree builds it, with "
                    "LibTorch, and "
                    "a che beside it, build/che",
                    program.string()));
  }
  const std::string content = read_file(std::filesystem::canonical(program));
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  // A che in the place of che-compute would hand over to itself for ever.
  std::error_code is_gone;  // It is set where this program was built anew since it started.
  const bool is_che = self.filename() != program.filename() &&
                      std::filesystem::file_size(self, is_gone) == content.size() &&
                      content == read_file(self);
  if (is_of_this_build(content) && !is_che) return program;
  throw Error(fmt::format(
      "{} is not the che-compute of this che, commit {}; `scripts/setup.sh` builds both; copy them together",
      program.string(), git_commit()));
}

}  // namespace che
