#include "experiments/progress_display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace che {
namespace {

constexpr std::chrono::seconds kPlainInterval{15};
constexpr std::chrono::seconds kTotalInterval{60};

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

ProgressDisplay::ProgressDisplay() : terminal_(isatty(STDOUT_FILENO) == 1) {}

void ProgressDisplay::show(const Progress& progress) {
  if (progress.phase == "warning") return print_line(describe(progress));
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
      std::fputs((line.substr(0, width - 1) + "\n").c_str(), stdout);
      ++drawn_;
    };
    for (const auto& [job, line] : lines_) draw(line);
    if (!total_.empty()) draw(total_);
  }
  std::fflush(stdout);
}

}  // namespace che
