#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/resources.h"

namespace che {

// Calls each(0) ... each(count - 1), in any order, on as many threads as this process has cores. Throws what
// a call throws; the others may or may not be made then.
template <class Each>
void for_each_index(std::size_t count, const Each& each) {
  constexpr std::size_t kMinCalls = 32;  // Fewer calls are not worth a thread.
  const auto cores = static_cast<std::size_t>(std::max<std::int64_t>(1, available_resources().cores));
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) each(i);
    } catch (...) {
      next = count;
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(cores, count / kMinCalls); ++i) threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

// Serves calls whose results are large. `take(i, made)` gets the result of each(i), in order, and only some
// hundred of them are kept at a time.
template <class Each, class Take>
void for_each_in_order(std::size_t count, const Each& each, const Take& take) {
  constexpr std::size_t kBlock = 256;
  using Made = decltype(each(std::size_t{0}));
  for (std::size_t first = 0; first < count; first += kBlock) {
    std::vector<std::optional<Made>> made(std::min(kBlock, count - first));
    for_each_index(made.size(), [&](std::size_t i) { made[i].emplace(each(first + i)); });
    for (std::size_t i = 0; i < made.size(); ++i) take(first + i, *std::move(made[i]));
  }
}

}  // namespace che
