// Never compiled with -fsanitize=thread; CHE_TSAN says that the rest is.
#include "tests/gpu/emulated_gpu.h"

#include <fmt/core.h>

#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/started_kernels.h"
#ifdef CHE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CHE_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#undef threadIdx
#undef blockIdx
#undef blockDim

namespace che::gpu {
namespace {

namespace context = boost::context::detail;

// Of any thread.
std::atomic<std::int64_t> started;

constexpr unsigned kWarp = 32;
constexpr std::size_t kStack = std::size_t{64} * 1024;
// AddressSanitizer finds what is read or written behind shared memory itself.
#ifdef CHE_ASAN
constexpr std::size_t kGuard = 0;
#else
constexpr std::size_t kGuard = 4096;
#endif

enum class State : std::uint8_t { kReady, kAtBlock, kAtWarp, kDone };
constexpr std::size_t kStates = 4;

struct Thread {
  context::fcontext_t context{};
  dim3 index{0, 0, 0};
  unsigned linear = 0;
  State state = State::kReady;
  unsigned exchanges = 0;
  unsigned block_barriers = 0;
  unsigned warp_barriers = 0;
  unsigned mask = 0;
  const char* what = "";  // It waits for, and in which line.
  unsigned line = 0;
  char* stack = nullptr;
  void* tsan = nullptr;
};

struct Warp {
  alignas(16) unsigned char slot[2][kWarp][32];
  // Addresses that stand for what orders memory; two in turn, because a thread can be at the next barrier
  // while another has not left this one.
  char barrier[2] = {};
};

struct Block {
  dim3 size, index;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::unique_ptr<unsigned char[]> shared;
  std::unique_ptr<char[]> stacks;
  context::fcontext_t scheduler{};
  Thread* running = nullptr;
  const std::function<void()>* body = nullptr;
  std::string error;
  char barrier[2] = {};
  // Likewise, of the beginning and the end of threads: two, so that a thread that has returned before another
  // starts is not ordered before it.
  char start = 0;
  char end = 0;
  void* tsan = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_stack_size = 0;
};

thread_local Block* current = nullptr;
Schedule chosen_schedule = Schedule::kAscending;
LaunchListener chosen_listener = nullptr;
std::int64_t largest_shared_bytes = 0;

// Unwinds a thread of a block that an error stopped.
struct Stopped {};

void orders_before([[maybe_unused]] char* what) {
#ifdef CHE_TSAN
  __tsan_release(what);
#endif
}

void orders_after([[maybe_unused]] char* what) {
#ifdef CHE_TSAN
  __tsan_acquire(what);
#endif
}

void to_scheduler([[maybe_unused]] bool last = false) {
#ifdef CHE_TSAN
  __tsan_switch_to_fiber(current->tsan, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef CHE_ASAN
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(last ? nullptr : &fake, current->scheduler_stack,
                                 current->scheduler_stack_size);
#endif
  const context::fcontext_t back = context::jump_fcontext(current->scheduler, nullptr).fctx;
#ifdef CHE_ASAN
  __sanitizer_finish_switch_fiber(fake, &current->scheduler_stack, &current->scheduler_stack_size);
#endif
  current->scheduler = back;
}

void fiber_main(context::transfer_t from) {
#ifdef CHE_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &current->scheduler_stack, &current->scheduler_stack_size);
#endif
  current->scheduler = from.fctx;
  orders_after(&current->start);
  try {
    (*current->body)();
  } catch (const Stopped&) {
  }
  current->running->state = State::kDone;
  orders_before(&current->end);
  to_scheduler(true);
}

void run_fiber(Thread& thread) {
  current->running = &thread;
#ifdef CHE_TSAN
  __tsan_switch_to_fiber(thread.tsan, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef CHE_ASAN
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, thread.stack, kStack);
#endif
  thread.context = context::jump_fcontext(thread.context, nullptr).fctx;
#ifdef CHE_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void wait(State state, unsigned mask, const char* what, unsigned line) {
  Thread& thread = *current->running;
  thread.state = state;
  thread.mask = mask;
  thread.what = what;
  thread.line = line;
  to_scheduler();
  if (!current->error.empty()) throw Stopped();
}

// Whether all lanes of the mask of `warp`'s lane `lane` wait where it does.
bool all_arrived(const Thread* warp, unsigned lanes, unsigned lane) {
  const Thread& one = warp[lane];
  if ((one.mask >> lane & 1U) == 0) return false;
  for (unsigned other = 0; other < lanes; ++other) {
    if ((one.mask >> other & 1U) == 0) continue;
    const Thread& thread = warp[other];
    if (thread.state != State::kAtWarp || thread.mask != one.mask || thread.what != one.what ||
        thread.line != one.line) {
      return false;
    }
  }
  return true;
}

bool open_warps(Block& block) {
  bool opened = false;
  const auto count = static_cast<unsigned>(block.threads.size());
  for (unsigned first = 0; first < count; first += kWarp) {
    const unsigned lanes = std::min(kWarp, count - first);
    Thread* const warp = block.threads.data() + first;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if (warp[lane].state != State::kAtWarp || !all_arrived(warp, lanes, lane)) continue;
      opened = true;
      const unsigned mask = warp[lane].mask;
      for (unsigned other = 0; other < lanes; ++other) {
        if ((mask >> other & 1U) != 0) warp[other].state = State::kReady;
      }
    }
  }
  return opened;
}

void run_block(Block& block) {
  const auto count = static_cast<unsigned>(block.threads.size());
  std::vector<unsigned> order(count);
  for (unsigned i = 0; i < count; ++i) {
    order[i] = chosen_schedule == Schedule::kDescending ? count - 1 - i : i;
  }
  std::uint64_t random = block.index.x * 7919U + 1;
  unsigned done = 0;
  while (done < count) {
    for (unsigned i = count - 1; chosen_schedule == Schedule::kRandom && i > 0; --i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      std::swap(order[i], order[static_cast<unsigned>(random >> 33U) % (i + 1)]);
    }
    bool moved = false;
    for (const unsigned i : order) {
      Thread& thread = block.threads[i];
      if (thread.state != State::kReady) continue;
      moved = true;
      run_fiber(thread);
      if (thread.state == State::kDone) ++done;
    }
    bool opened = open_warps(block);
    unsigned in_state[kStates] = {};
    for (const Thread& thread : block.threads) ++in_state[static_cast<unsigned>(thread.state)];
    const unsigned at_block = in_state[static_cast<unsigned>(State::kAtBlock)];
    if (at_block == count) {
      const unsigned line = block.threads[0].line;
      for (Thread& thread : block.threads) {
        thread.state = State::kReady;
        if (thread.line == line) continue;
        block.error =
            fmt::format("threads wait at different __syncthreads, in the lines {} and {}", line, thread.line);
      }
      opened = true;
    }
    if (moved || opened || done == count) continue;
    block.error = fmt::format(
        "block ({}, {}, {}) hangs: {} threads at __syncthreads, {} at a warp operation, {} returned",
        block.index.x, block.index.y, block.index.z, at_block,
        in_state[static_cast<unsigned>(State::kAtWarp)], in_state[static_cast<unsigned>(State::kDone)]);
    for (Thread& thread : block.threads) {
      if (thread.state != State::kDone) thread.state = State::kReady;  // They throw.
    }
  }
}

// A new block at the start of its kernel.
void start_block(Block& block, dim3 index, std::size_t shared_bytes) {
  block.index = index;
  orders_after(&block.end);
  block.shared.reset(new unsigned char[shared_bytes + kGuard]);
  std::memset(block.shared.get(), 0xff, shared_bytes + kGuard);  // NaN
#ifdef CHE_ASAN
  // Fibers of the block before never returned, and left marks around their variables.
  __asan_unpoison_memory_region(block.stacks.get(), block.threads.size() * kStack);
#endif
  orders_before(&block.start);
  const dim3& size = block.size;
  for (unsigned i = 0; i < block.threads.size(); ++i) {
    Thread& thread = block.threads[i];
    char* const stack = block.stacks.get() + i * kStack;
    thread = {.context = context::make_fcontext(stack + kStack, kStack, fiber_main),
              .index = dim3(i % size.x, i / size.x % size.y, i / size.x / size.y),
              .linear = i,
              .stack = stack,
              .tsan = thread.tsan};
  }
}

void check_guard(Block& block, std::size_t shared_bytes) {
  const unsigned char* const guard = block.shared.get() + shared_bytes;
  if (block.error.empty() && !std::all_of(guard, guard + kGuard, [](unsigned char c) { return c == 0xff; })) {
    block.error = "shared memory is written to behind its end";
  }
}

}  // namespace

std::int64_t take_largest_shared_bytes() { return std::exchange(largest_shared_bytes, 0); }

void set_schedule(Schedule schedule) { chosen_schedule = schedule; }

const dim3& thread_index() { return current->running->index; }
const dim3& block_index() { return current->index; }
const dim3& block_size() { return current->size; }
unsigned char* shared_memory() { return current->shared.get(); }
unsigned lane_index() { return current->running->linear % kWarp; }

void sync_block(unsigned line) {
  char* const barrier = &current->barrier[current->running->block_barriers++ & 1U];
  orders_before(barrier);
  wait(State::kAtBlock, 0, "__syncthreads", line);
  orders_after(barrier);
}

void sync_warp(unsigned mask, unsigned line) {
  Thread& thread = *current->running;
  char* const barrier = &current->warps[thread.linear / kWarp].barrier[thread.warp_barriers++ & 1U];
  orders_before(barrier);
  wait(State::kAtWarp, mask, "__syncwarp", line);
  orders_after(barrier);
}

const unsigned char* exchange_bytes(unsigned mask, const void* mine, unsigned bytes, const char* what) {
  Thread& thread = *current->running;
  // Two sets of slots in turn: no lane can be a whole exchange ahead.
  auto& slots = current->warps[thread.linear / kWarp].slot[thread.exchanges++ & 1U];
  volatile unsigned char* const to = slots[thread.linear % kWarp];
  for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<const unsigned char*>(mine)[i];
  wait(State::kAtWarp, mask, what, 0);
  return slots[0];
}

std::int64_t started_kernels() { return started; }

void set_launch_listener(LaunchListener listener) { chosen_listener = listener; }
LaunchListener launch_listener() { return chosen_listener; }

void run_grid(dim3 grid, dim3 block, std::int64_t shared_bytes, const std::function<void()>& body) {
  ++started;
  Block state;
  const unsigned count = block.x * block.y * block.z;
  const auto shared = static_cast<std::size_t>(shared_bytes);
  largest_shared_bytes = std::max(largest_shared_bytes, shared_bytes);
  state.size = block;
  state.threads.resize(count);
  state.warps.resize((count + kWarp - 1) / kWarp);
  state.stacks.reset(new char[count * kStack]);
  state.body = &body;
#ifdef CHE_TSAN
  state.tsan = __tsan_get_current_fiber();
  for (Thread& thread : state.threads) thread.tsan = __tsan_create_fiber(0);
#endif
  Block* const outer = std::exchange(current, &state);
  for (unsigned number = 0; number < grid.x * grid.y * grid.z && state.error.empty(); ++number) {
    start_block(state, dim3(number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y), shared);
    run_block(state);
    check_guard(state, shared);
  }
  orders_after(&state.end);
#ifdef CHE_TSAN
  for (Thread& thread : state.threads) __tsan_destroy_fiber(thread.tsan);
#endif
  current = outer;
  if (!state.error.empty()) throw std::runtime_error(state.error);
}

}  // namespace che::gpu
