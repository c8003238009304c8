#include "experiments/schedule/progress.h"

#include <fmt/core.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/bounded_json.h"
#include "core/error.h"

namespace che {
namespace {

// In the order of Phase.
constexpr std::array<std::string_view, 3> kPhases{"training", "evaluating", "warning"};

// A number that is not finite is null in JSON.
double number_or_nan(const nlohmann::json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Phase phase_named(const std::string& name) {
  const auto* const found = std::ranges::find(kPhases, name);
  if (found == kPhases.end()) throw Error("no phase: " + name);
  return static_cast<Phase>(found - kPhases.begin());
}

constexpr double kProgressSeconds = 1;
constexpr JsonLimits kLineLimits{.depth = 1, .bytes = std::size_t{1} << 20, .values = 100};

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

Progress warning_about(const std::string& job, const std::string& text) {
  return {.job = job, .phase = Phase::kWarning, .text = text};
}

std::string to_json_line(const Progress& progress) {
  nlohmann::json json{{"job", progress.job},
                      {"runs", progress.runs},
                      {"phase", kPhases[static_cast<std::size_t>(progress.phase)]},
                      {"done", progress.done},
                      {"total", progress.total},
                      {"loss", progress.loss},
                      {"accuracy", progress.accuracy},
                      {"per_second", progress.per_second},
                      {"text", progress.text}};
  if (progress.left) json["seconds_left"] = *progress.left;
  // Names of folders need not be UTF-8.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::optional<Progress> parse_progress(std::string_view line) {
  Progress progress;
  try {
    const nlohmann::json json = parse_bounded_json(line, kLineLimits);
    progress.job = json.at("job").get<std::string>();
    progress.runs = json.at("runs").get<std::size_t>();
    progress.phase = phase_named(json.at("phase").get<std::string>());
    progress.done = json.at("done").get<std::int64_t>();
    progress.total = json.at("total").get<std::int64_t>();
    progress.loss = number_or_nan(json.at("loss"));
    progress.accuracy = number_or_nan(json.at("accuracy"));
    progress.per_second = number_or_nan(json.at("per_second"));
    progress.text = json.at("text").get<std::string>();
    if (json.contains("seconds_left")) progress.left = json.at("seconds_left").get<double>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
  return progress;
}

std::string describe(const Progress& progress) {
  if (progress.phase == Phase::kWarning) return fmt::format("{}: warning: {}", progress.job, progress.text);
  const bool training = progress.phase == Phase::kTraining;
  const std::string left = progress.left ? fmt::format("{} left, ", duration_text(*progress.left)) : "";
  const std::string runs = progress.runs > 1 ? fmt::format("{} runs, ", progress.runs) : "";
  return fmt::format("{}: {}{} {}/{}, {}loss {:.3f}, accuracy {:.1f} %, {:.3g} {}/s", progress.job, runs,
                     training ? "step" : "length", progress.done, progress.total, left, progress.loss,
                     100 * progress.accuracy, progress.per_second, training ? "steps" : "lengths");
}

ProgressMeter::ProgressMeter(Progress begun, double work, const ProgressSink& sink)
    : progress_(std::move(begun)),
      sink_(sink),
      time_left_(work),
      reported_(progress_.done),
      is_due_(kProgressSeconds) {}

void ProgressMeter::add(double work, double loss, double accuracy) {
  ++progress_.done;
  work_done_ += work;
  progress_.loss += loss;
  progress_.accuracy += accuracy;
  const bool is_last = progress_.done == progress_.total;
  if (!is_due_.is_due() && !is_last) return;
  Progress report = progress_;
  const auto count = static_cast<double>(progress_.done - reported_);
  report.loss /= count;
  report.accuracy /= count;
  report.per_second = count / seconds_since(last_report_);
  time_left_.report(work_done_, seconds_since(start_));
  report.left = time_left_.estimate();
  sink_(report);
  reported_ = progress_.done;
  progress_.loss = progress_.accuracy = 0;
  last_report_ = Clock::now();
}

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
