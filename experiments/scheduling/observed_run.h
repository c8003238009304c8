#pragma once

#include <filesystem>
#include <string>

#include "experiments/store/needs.h"
#include "experiments/store/run_folder.h"

namespace che {

// A run as its files and its lock show it at this moment. `che run --list`, `che status` and `che evaluate`
// name its state by this.
struct ObservedRun {
  StoredRun stored;
  RunNeeds needs;
  // As stored, but: a finished run that lacks test lengths is waiting; one that was begun and that no process
  // works on is interrupted; one that a process has only just taken up is training.
  RunState state = RunState::kWaiting;
  bool is_at_work = false;    // Whether some process works on it.
  double silent_seconds = 0;  // Since its status was written.

  // The state's word, or "damaged".
  std::string state_text() const;
};

ObservedRun observe(const RunFolder& folder);

}  // namespace che
