#include "models/memory_probe.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <memory>

namespace che {
namespace {

// LibTorch's allocators report to what stands in this thread's slot for a profiler.
class Peak : public c10::MemoryReportingInfoBase {
 public:
  explicit Peak(std::optional<c10::DeviceType> device) : device_(device) {}

  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device device) override {
    if (device_ && device.type() != *device_) return;
    now_ += bytes;
    peak_ = std::max(peak_, now_);
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::int64_t bytes() const { return peak_; }

 private:
  std::optional<c10::DeviceType> device_;
  std::int64_t now_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace

std::int64_t peak_tensor_bytes(const std::function<void()>& work, std::optional<c10::DeviceType> device) {
  const auto peak = std::make_shared<Peak>(device);
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, peak);
  work();
  return peak->bytes();
}

}  // namespace che
