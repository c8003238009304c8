#pragma once

#include <string>
#include <vector>

#include "experiments/training/selftest.h"

namespace che {

// What training steps take in PyTorch on the same GPU: of bench/peer/torch_che.py, which is the same model
// written with PyTorch's operations, run by the python3 on the PATH.
struct PeerTimes {
  std::string torch = {};    // PyTorch's version.
  std::string problem = {};  // Why nothing was measured; empty otherwise.
  std::vector<SelftestTime> times = {};
};

// Times the steps of time_steps() with one replica, sampling included. Nothing is installed: PyTorch has to
// be there.
PeerTimes time_peer(const Backend& device, const SelftestPlan& plan, const TimeSink& sink);

}  // namespace che
