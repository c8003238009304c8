#pragma once

#include <cstdint>

namespace che {

// One row of metrics.csv: means over the training steps since the row before.
struct MetricsRow {
  std::int64_t step = 0;     // Updates made so far.
  double loss = 0;           // Nats per output symbol.
  double accuracy = 0;       // 0 .. 1
  double gradient_norm = 0;  // Before clipping.
  double seconds = 0;        // Training time of the run so far.
};

}  // namespace che
