#include "plots/gnuplot.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"

extern char** environ;

namespace che {
namespace {

Error failure(const std::string& problem) {
  return Error("cannot draw the figure: " + problem, Fault::kRuntime);
}

// A file in memory that a child process reads or writes. Unlike a pipe it neither fills up while the
// other side waits nor raises SIGPIPE when gnuplot gives up early.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw failure(fmt::format("no memory file: {}", std::strerror(errno)));
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(descriptor_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw failure(fmt::format("no memory for the script: {}", std::strerror(errno)));
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    ::lseek(descriptor_, 0, SEEK_SET);
  }

  std::string text() const {
    std::string result;
    std::array<char, 4096> buffer{};
    ::lseek(descriptor_, 0, SEEK_SET);
    for (ssize_t count; (count = ::read(descriptor_, buffer.data(), buffer.size())) > 0;) {
      result.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return result;
  }

 private:
  int descriptor_;
};

Error missing(const std::string& program) {
  return failure(
      fmt::format("{} is not on the PATH; install it (Debian: apt-get install gnuplot-nox)", program));
}

// gnuplot shows the failing line, a caret and the reason on lines of their own.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  constexpr std::size_t kLongest = 600;
  if (text.size() > kLongest) text = "... " + text.substr(text.size() - kLongest);
  const std::size_t start = text.find_first_not_of(' ');
  return start == std::string::npos ? "no message"
                                    : text.substr(start, text.find_last_not_of(' ') + 1 - start);
}

}  // namespace

void run_gnuplot(const std::string& script, const std::string& program) {
  MemoryFile input("gnuplot-script");
  const MemoryFile messages("gnuplot-messages");
  input.write(script);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, messages.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, messages.descriptor(), STDERR_FILENO);
  std::string name = program;
  std::array<char*, 2> arguments{name.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) throw missing(program);
  if (error != 0) throw failure(fmt::format("cannot start {}: {}", program, std::strerror(error)));

  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw failure(fmt::format("lost {}: {}", program, std::strerror(errno)));
  }
  if (WIFSIGNALED(status))
    throw failure(fmt::format("{} was killed by signal {}", program, WTERMSIG(status)));
  if (WEXITSTATUS(status) == 127) throw missing(program);
  if (WEXITSTATUS(status) != 0) throw failure(fmt::format("{} says: {}", program, one_line(messages.text())));
}

std::string gnuplot_output(std::string_view format, const std::string& file, double width, double height,
                           int font_size) {
  // A PDF's canvas is measured in inches of 72 points, and its lines and letters are half as large by
  // default.
  const bool pdf = format == "pdf";
  const std::string size =
      pdf ? fmt::format("{:.4f}in,{:.4f}in", width / 72, height / 72) : fmt::format("{},{}", width, height);
  const std::string_view terminal = pdf               ? "pdfcairo fontscale 1 linewidth 2"
                                    : format == "png" ? "pngcairo"
                                                      : "svg";
  return fmt::format(
      "set terminal {} noenhanced size {} font 'DejaVu Sans,{}' background rgb 'white'\n"
      "set output {}\nset encoding utf8\n",
      terminal, size, font_size, gnuplot_string(file));
}

std::string gnuplot_string(const std::string& text) {
  // Single quotes: gnuplot reads no escapes but the doubled quote.
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += c == '\n' ? ' ' : c;
  }
  return result + "'";
}

}  // namespace che
