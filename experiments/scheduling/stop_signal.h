#pragma once

#include <atomic>
#include <csignal>

namespace che {

// The last of the stop signals (SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP) that this process was sent; 0 for
// none.
const std::atomic<int>& stop_signal();

// From now on these signals only set stop_signal(); unblocks them.
void catch_stop_signals();

// The stop signals, for a process that starts with them blocked.
sigset_t stop_signals();

}  // namespace che
