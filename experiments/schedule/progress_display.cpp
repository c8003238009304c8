#include "experiments/schedule/progress_display.h"

#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace che {
namespace {

constexpr std::chrono::seconds kPlainInterval{15};
constexpr std::chrono::seconds kTotalInterval{60};

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// `line` in at most `width` characters: its numbers matter more than the end of the long name before them.
std::string fit(const std::string& line, std::size_t width) {
  constexpr std::size_t kMinName = 20;
  const std::size_t name = line.find(": ");
  if (line.size() <= width || name == std::string::npos) return line.substr(0, width);
  const std::size_t numbers = line.size() - name;
  const std::size_t kept = std::max(kMinName, width > numbers ? width - numbers : 0);
  if (kept >= name) return line.substr(0, width);
  return (line.substr(0, kept - 2) + ".." + line.substr(name)).substr(0, width);
}

}  // namespace

ProgressDisplay::ProgressDisplay() : terminal_(isatty(STDOUT_FILENO) == 1) {}

void ProgressDisplay::show(const Progress& progress) {
  if (progress.phase == Phase::kWarning) return print_line(describe(progress));
  if (terminal_) {
    erase_lines();
    lines_[progress.job] = describe(progress);
    return draw_lines();
  }
  const Clock::time_point now = Clock::now();
  const auto [last, is_new] = printed_.try_emplace(progress.job, now);
  if (!is_new && now - last->second < kPlainInterval) return;
  last->second = now;
  print_line(describe(progress));
}

void ProgressDisplay::show_total(const std::string& line) {
  if (terminal_) {
    if (line == total_) return;
    erase_lines();
    total_ = line;
    return draw_lines();
  }
  const Clock::time_point now = Clock::now();
  if (now - total_printed_ < kTotalInterval) return;
  total_printed_ = now;
  print_line(line);
}

void ProgressDisplay::finish(const std::string& job, const std::string& line) {
  erase_lines();
  lines_.erase(job);
  print_line(line);
}

void ProgressDisplay::print_line(const std::string& line) {
  erase_lines();
  std::fputs((line + "\n").c_str(), stdout);
  draw_lines();
}

void ProgressDisplay::erase_lines() {
  for (; drawn_ > 0; --drawn_) std::fputs("\x1b[1A\x1b[2K", stdout);
}

void ProgressDisplay::draw_lines() {
  if (terminal_) {
    const std::size_t width = terminal_width();  // A wrapped line could not be erased.
    const auto draw = [&](const std::string& line) {
      std::fputs((fit(line, width - 1) + "\n").c_str(), stdout);
      ++drawn_;
    };
    for (const auto& [job, line] : lines_) draw(line);
    if (!total_.empty()) draw(total_);
  }
  print_progress("");
}

void print_progress(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0) __fpurge(stdout);
  std::clearerr(stdout);
}

}  // namespace che
