#pragma once

#include <cstdint>

#include "experiments/exchange/bundled_run.h"
#include "experiments/plan/identity.h"
#include "tests/experiments/store/made_up_results.h"

namespace che {

inline BundledRun finished_run(std::int64_t seed = 0) {
  BundledRun run;
  run.config = made_up_config("even_pairs", "rope", seed);
  run.id = run_id(run.config);
  run.status.state = RunState::kFinished;
  for (const std::int64_t length : run.config.evaluation.lengths()) {
    run.evaluation.push_back({.length = length, .samples = 64, .accuracy = 0.75, .loss = 0.5});
  }
  run.metrics = {{.step = 500, .loss = 1.5, .accuracy = 0.5, .gradient_norm = 1, .seconds = 1},
                 {.step = 1000, .loss = 0.5, .accuracy = 0.9, .gradient_norm = 1, .seconds = 2}};
  return run;
}

}  // namespace che
