#pragma once

#include <atomic>

namespace che {

// The last of SIGINT, SIGTERM and SIGUSR1 that this process was sent; 0 for none.
const std::atomic<int>& stop_signal();

// From now on these signals only set stop_signal().
void catch_stop_signals();

}  // namespace che
