#include "experiments/scheduling/stop_signal.h"

#include <array>

namespace che {
namespace {

constexpr std::array kStopSignals{SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP};

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

void note(int signal) { caught.store(signal); }

}  // namespace

const std::atomic<int>& stop_signal() { return caught; }

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note;
  for (const int signal : kStopSignals) sigaction(signal, &action, nullptr);
  const sigset_t signals = stop_signals();
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kStopSignals) sigaddset(&signals, signal);
  return signals;
}

}  // namespace che
