#pragma once

#include <map>
#include <string>

#include "core/clock.h"
#include "experiments/schedule/progress.h"

namespace che {

// Shows what workers do on standard output: on a terminal one line a job and one of the whole, redrawn
// in place; otherwise plain lines, for each job and for the whole now and then.
class ProgressDisplay {
 public:
  ProgressDisplay();

  void show(const Progress& progress);

  // The line of the whole.
  void show_total(const std::string& line);

  // A line that stays, about `job`, whose progress line goes.
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
