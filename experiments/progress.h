#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace che {

// What a worker says of its job, a JSON object a line on its standard output.
struct Progress {
  std::string job;          // Its first run's id.
  std::string phase;        // "training", "evaluating" or "warning"
  std::int64_t done = 0;    // Steps, or lengths in evaluation.
  std::int64_t total = 0;   // Likewise.
  double loss = 0;          // Mean over replicas, nats per output symbol.
  double accuracy = 0;      // Mean over replicas, 0 .. 1
  double per_second = 0;    // Steps or lengths a second.
  double seconds_left = 0;  // Of this phase.
  std::string text = {};    // Of a warning.
};

using ProgressSink = std::function<void(const Progress&)>;

std::string to_json_line(const Progress& progress);

// Nothing for a line that is no progress.
std::optional<Progress> parse_progress(std::string_view line);

// "53 s", "12 min" or "3.4 h"
std::string duration_text(double seconds);

// "reverse_string-rope: step 120/2000, loss 0.512, accuracy 71.2 %, 35.1 steps/s, 53 s left"
std::string describe(const Progress& progress);

}  // namespace che
