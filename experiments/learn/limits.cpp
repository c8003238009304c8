#include "experiments/learn/limits.h"

#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include "experiments/schedule/devices.h"

namespace che {
namespace {

// Stands in this thread's slot for a profiler, to which LibTorch's allocators report.
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

// c10/core/impl/alloc_cpu.cpp: "DefaultCPUAllocator: can't allocate memory: you tried to allocate 123
// bytes.", or "not enough memory"; there is no type of its own for it.
constexpr std::string_view kAllocator = "DefaultCPUAllocator: ";
constexpr std::string_view kTriedBytes = "you tried to allocate ";
// A GPU's allocator throws a c10::OutOfMemoryError: "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0
// has ...".
constexpr std::string_view kAmount = "Tried to allocate ";

// Returns " (2.5 GiB more were needed)", or nothing if the message has no amount.
std::string amount_in(std::string_view text) {
  if (const std::size_t bytes = text.find(kTriedBytes); bytes != std::string_view::npos) {
    return fmt::format(
        " ({:.3g} GiB more were needed)",
        std::strtod(std::string(text.substr(bytes + kTriedBytes.size(), 30)).c_str(), nullptr) / 0x1p30);
  }
  const std::size_t amount = text.find(kAmount);
  if (amount == std::string_view::npos) return "";
  const std::string_view rest = text.substr(amount + kAmount.size());
  return fmt::format(" ({} more were needed)", rest.substr(0, rest.find(". ")));
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace

// Not more threads than the process may use: with 1024 on two cores fifty small steps took 69 seconds, and
// with two 2.7.
ThreadLimit::ThreadLimit(std::int64_t threads)
    : limit_(tbb::global_control::max_allowed_parallelism,
             static_cast<std::size_t>(usable_threads(threads))) {
  at::set_num_threads(static_cast<int>(usable_threads(threads)));
}

std::int64_t peak_tensor_bytes(const std::function<void()>& work, std::optional<c10::DeviceType> device) {
  const auto peak = std::make_shared<Peak>(device);
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, peak);
  work();
  return peak->bytes();
}

void give_back_device_memory(const c10::Device& device) {
  c10::getDeviceAllocator(device.type())->emptyCache();
}

double free_device_bytes(const c10::Device& device) {
  give_back_device_memory(device);
  return static_cast<double>(c10::getDeviceAllocator(device.type())->getMemoryInfo(device.index()).first);
}

double peak_device_bytes(const c10::Device& device) {
  const auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
  const auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return static_cast<double>(stats.allocated_bytes[all].peak);
}

void reset_peak_device_bytes(const c10::Device& device) {
  c10::getDeviceAllocator(device.type())->resetPeakStats(device.index());
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  return dynamic_cast<const c10::Error*>(&error) != nullptr &&
         std::string_view(error.what()).find(kAllocator) != std::string_view::npos;
}

std::string failure_text(const std::exception& error) {
  if (!is_out_of_memory(error)) {
    const auto* const torch = dynamic_cast<const c10::Error*>(&error);
    return first_line(torch != nullptr ? torch->what_without_backtrace() : error.what());
  }
  return fmt::format(
      "out of memory{}; use fewer workers, a smaller model, training.batch_size or execution.replicas, or a "
      "lower execution.memory_gib",
      amount_in(error.what()));
}

}  // namespace che
