#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace che {

// The fake device's memory, which is the host's. Counts bytes and tells LibTorch's profilers of them, as a
// GPU's allocator does.
//
// While a graph is captured, memory that is given out is the graph's: it stays until the graph releases it,
// whether tensors live in it or not, and nobody else gets it.
class FakeMemory : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override;

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override;
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override;
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override;

  // What is done between these leaves no trace in memory that was there before, and no values in memory that
  // is given out meanwhile. end_capture() returns the latter.
  void begin_capture();
  std::vector<void*> end_capture();
  // Makes all values of a graph's memory NaN.
  void make_unwritten(const std::vector<void*>& of_graph);
  void release_captured(const std::vector<void*>& of_graph);

 private:
  struct Block {
    std::size_t bytes;
    std::int64_t capture = 0;  // Whose it is; 0 for none.
    bool is_released = false;  // By its tensors.
  };

  static void release(void* memory);
  void release_block(void* memory);
  void count(void* memory, std::int64_t bytes);

  std::mutex mutex_;
  std::map<void*, Block> blocks_;
  c10::CachingAllocator::Stat allocated_;
  std::int64_t captures_ = 0;
  std::int64_t capturing_ = 0;  // The number of the current one; 0 for none.
  std::vector<std::pair<void*, std::vector<char>>> saved_;
};

FakeMemory& fake_memory();

}  // namespace che
