#include "models/device_memory.h"

#include <c10/core/CachingDeviceAllocator.h>

namespace che {

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

}  // namespace che
