#include "experiments/stop_signal.h"

#include <csignal>

namespace che {
namespace {

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

void note(int signal) { caught.store(signal); }

}  // namespace

const std::atomic<int>& stop_signal() { return caught; }

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
}

}  // namespace che
