#include "tests/gpu/fake_memory.h"

#include <c10/core/impl/alloc_cpu.h>

#include <cstring>

#include "tests/gpu/fake_device.h"

namespace che {
namespace {

constexpr int kUnwritten = 0xff;  // NaN

}  // namespace

FakeMemory& fake_memory() {
  // Never destroyed: other static objects keep tensors.
  static auto* const memory = new FakeMemory;
  return *memory;
}

c10::DataPtr FakeMemory::allocate(std::size_t bytes) {
  void* const memory = c10::alloc_cpu(bytes);
  if (memory != nullptr) {
    const std::lock_guard lock(mutex_);
    blocks_[memory] = {.bytes = bytes, .capture = capturing_};
  }
  count(memory, static_cast<std::int64_t>(bytes));
  return {memory, memory, &release, fake_device()};
}

void FakeMemory::copy_data(void* to, const void* from, std::size_t bytes) const {
  std::memcpy(to, from, bytes);
}

c10::CachingDeviceAllocator::DeviceStats FakeMemory::getDeviceStats(c10::DeviceIndex) {
  const std::lock_guard lock(mutex_);
  c10::CachingDeviceAllocator::DeviceStats stats;
  stats.allocated_bytes[0] = allocated_;
  return stats;
}

void FakeMemory::resetPeakStats(c10::DeviceIndex) {
  const std::lock_guard lock(mutex_);
  allocated_.reset_peak();
}

std::pair<std::size_t, std::size_t> FakeMemory::getMemoryInfo(c10::DeviceIndex) {
  const std::lock_guard lock(mutex_);
  return {kFakeDeviceBytes - static_cast<std::size_t>(allocated_.current), kFakeDeviceBytes};
}

void FakeMemory::begin_capture() {
  const std::lock_guard lock(mutex_);
  TORCH_CHECK(capturing_ == 0, "memory is given to another capture");
  capturing_ = ++captures_;
  for (const auto& [memory, block] : blocks_) {
    const auto* const bytes = static_cast<const char*>(memory);
    saved_.emplace_back(memory, std::vector<char>(bytes, bytes + block.bytes));
  }
}

std::vector<void*> FakeMemory::end_capture() {
  const std::lock_guard lock(mutex_);
  TORCH_CHECK(capturing_ != 0, "no capture is given memory");
  const std::int64_t capture = std::exchange(capturing_, 0);
  for (const auto& [memory, bytes] : std::exchange(saved_, {})) {
    const auto found = blocks_.find(memory);
    // It may have been given back, and given out again.
    if (found == blocks_.end() || found->second.capture == capture) continue;
    std::memcpy(memory, bytes.data(), bytes.size());
  }
  std::vector<void*> of_graph;
  for (const auto& [memory, block] : blocks_) {
    if (block.capture != capture) continue;
    std::memset(memory, kUnwritten, block.bytes);
    of_graph.push_back(memory);
  }
  return of_graph;
}

void FakeMemory::make_unwritten(const std::vector<void*>& of_graph) {
  const std::lock_guard lock(mutex_);
  for (void* const memory : of_graph) std::memset(memory, kUnwritten, blocks_.at(memory).bytes);
}

void FakeMemory::release_captured(const std::vector<void*>& of_graph) {
  for (void* const memory : of_graph) {
    {
      const std::lock_guard lock(mutex_);
      Block& block = blocks_.at(memory);
      block.capture = 0;
      if (!block.is_released) continue;
      blocks_.erase(memory);
    }
    c10::free_cpu(memory);
  }
}

void FakeMemory::release(void* memory) {
  if (memory != nullptr) fake_memory().release_block(memory);
}

void FakeMemory::release_block(void* memory) {
  std::int64_t bytes = 0;
  bool stays = false;
  {
    const std::lock_guard lock(mutex_);
    Block& block = blocks_.at(memory);
    bytes = static_cast<std::int64_t>(block.bytes);
    stays = block.capture != 0;
    block.is_released = true;
    if (!stays) blocks_.erase(memory);
  }
  count(memory, -bytes);
  if (!stays) c10::free_cpu(memory);
}

void FakeMemory::count(void* memory, std::int64_t bytes) {
  std::size_t now = 0;
  {
    const std::lock_guard lock(mutex_);
    if (bytes > 0) allocated_.increase(static_cast<std::size_t>(bytes));
    if (bytes < 0) allocated_.decrease(static_cast<std::size_t>(-bytes));
    now = static_cast<std::size_t>(allocated_.current);
  }
  c10::reportMemoryUsageToProfiler(memory, bytes, now, now, fake_device());
}

}  // namespace che
