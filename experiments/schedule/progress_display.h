#pragma once

#include <map>
#include <string>

#include "core/clock.h"
#include "experiments/schedule/progress.h"

namespace che {

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
