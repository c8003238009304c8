#include "plots/gnuplot/gnuplot.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/process.h"
#include "core/text.h"

namespace che {
namespace {

Error failure(const std::string& problem) {
  return Error("cannot draw the figure: " + problem, ErrorKind::kRuntime);
}

constexpr int kOutputDescriptor = 3;  // In gnuplot's process, see kGnuplotOutput.

Error missing(const std::string& program) {
  return failure(
      fmt::format("{} is not on the PATH; install it (Debian: apt-get install gnuplot-nox)", program));
}

// The end of what gnuplot said: it shows the failing line, a caret and the reason on lines of their own.
std::string last_words(std::string_view text) {
  constexpr std::size_t kMaxBytes = 600;
  const std::string line = one_line(text, kWholeText);
  const std::size_t end = line.find_last_not_of(' ') + 1;
  const std::size_t start = line.find_first_not_of(' ');
  if (end == 0) return "no message";
  if (end - start > kMaxBytes) return "... " + line.substr(end - kMaxBytes, kMaxBytes);
  return line.substr(start, end - start);
}

}  // namespace

std::string run_gnuplot(const std::string& script, const std::string& program) {
  MemoryFile input("gnuplot-script");
  const MemoryFile output("gnuplot-figure");
  const MemoryFile messages("gnuplot-messages");
  input.write(script);

  const auto [child, error] = start_process({.words = {program},
                                             .descriptors = {{input.descriptor(), STDIN_FILENO},
                                                             {messages.descriptor(), STDOUT_FILENO},
                                                             {messages.descriptor(), STDERR_FILENO},
                                                             {output.descriptor(), kOutputDescriptor}}});
  if (error == ENOENT) throw missing(program);
  if (error != 0) throw failure(fmt::format("cannot start {}: {}", program, std::strerror(error)));

  const int status = wait_for_process(child);
  if (status < 0) throw failure(fmt::format("lost {}: {}", program, std::strerror(errno)));
  if (WIFSIGNALED(status))
    throw failure(fmt::format("{} was killed by signal {}", program, WTERMSIG(status)));
  if (WEXITSTATUS(status) == 127) throw missing(program);
  if (WEXITSTATUS(status) != 0)
    throw failure(fmt::format("{} says: {}", program, last_words(messages.text())));
  return output.text();
}

std::string gnuplot_output(const FigureFormat& format, const std::string& file, double width, double height,
                           int font_size) {
  // A PDF's canvas is measured in inches of 72 points, and its lines and letters are half as large by
  // default.
  const double scale = format.width_mm > 0 ? format.width_mm / 25.4 * 72 / width : 1;
  const bool pdf = format.kind == "pdf";
  const std::string size = pdf ? fmt::format("{:.4f}in,{:.4f}in", width * scale / 72, height * scale / 72)
                               : fmt::format("{},{}", width, height);
  const std::string terminal =
      pdf ? fmt::format("pdfcairo fontscale {0:.4f} linewidth {1:.4f} dashlength {1:.4f} pointscale {0:.4f}",
                        scale, 2 * scale)
      : format.kind == "png" ? "pngcairo"
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
