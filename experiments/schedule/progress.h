#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "experiments/schedule/time_left.h"

namespace che {

enum class Phase : std::uint8_t { kTraining, kEvaluating, kWarning };

// A report of a worker about its job. It writes each as one line of JSON to its standard output.
struct Progress {
  std::string job;                 // The id of the job's first run.
  std::size_t runs = 1;            // Those that are computed together, failed ones included.
  Phase phase = Phase::kTraining;  // A warning has a text only.
  std::int64_t done = 0;           // Steps, or lengths in evaluation,
  std::int64_t total = 0;          // and how many there are in all.
  // Means over the runs that have not failed and over the steps or lengths since the report before.
  double loss = 0;                  // Nats per output symbol.
  double accuracy = 0;              // 0 .. 1
  double per_second = 0;            // Steps or lengths per second since the report before.
  std::optional<double> left = {};  // Seconds until this phase ends; nothing while no speed is known.
  std::string text = {};            // The text of a warning.
};

using ProgressSink = std::function<void(const Progress&)>;

// A warning about `job`.
Progress warning_about(const std::string& job, const std::string& text);

std::string to_json_line(const Progress& progress);

// Returns nothing for a line that is no report.
std::optional<Progress> parse_progress(std::string_view line);

// "reverse_string-rope: step 120/2000, 48 s left, loss 0.512, accuracy 71.2 %, 35.1 steps/s". The most
// important part comes first, because a narrow terminal cuts off the rest. Several runs go by the name of the
// first: "reverse_string-rope: 9 runs, step ...".
std::string describe(const Progress& progress);

// Counts the steps or lengths of one phase of a job, and reports every second and after the last of them.
class ProgressMeter {
 public:
  // `begun.done` of `begun.total` are done already; the rest is `work`, in any unit.
  ProgressMeter(Progress begun, double work, const ProgressSink& sink);

  // Counts one more step or length, which was `work` of the work.
  void add(double work, double loss, double accuracy);

 private:
  Progress progress_;  // Loss and accuracy are sums since the last report.
  const ProgressSink& sink_;
  TimeLeft time_left_;
  double work_done_ = 0;
  std::int64_t reported_;  // Steps or lengths done at the last report.
  Every is_due_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_report_ = start_;
};

// Shows on standard output how far jobs are. A terminal gets one line a job and one for the sweep, redrawn in
// place; anything else gets a plain line for each now and then.
class ProgressDisplay {
 public:
  ProgressDisplay();

  void show(const Progress& progress);

  // Shows the sweep's line.
  void show_total(const std::string& line);

  // Replaces the progress line of `job` by a line that stays.
  void finish(const std::string& job, const std::string& line);

 private:
  void print_line(const std::string& line);
  void erase_lines();
  void draw_lines();

  bool terminal_;
  std::size_t drawn_ = 0;                     // Progress lines on the screen.
  std::map<std::string, std::string> lines_;  // By job.
  std::string total_;
  Clock::time_point total_printed_ = Clock::now();
  std::map<std::string, Clock::time_point> printed_;  // Last plain line by job.
};

// Writes `text` to standard output if it can be written: results do not need a reader of the progress.
void print_progress(const std::string& text);

}  // namespace che
