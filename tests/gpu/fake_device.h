#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>

namespace che {

// A device beside the CPU for tests on machines without a GPU. Its memory is the host's, and LibTorch's
// operations run on it by falling back to the CPU, so that values are those of the CPU. What mixes devices
// fails as on a GPU, and what a GPU would have to wait for is counted.
//
// Linking fake_device.cpp registers it as LibTorch's PrivateUse1.
at::Device fake_device();

// The memory that it says it has.
inline constexpr std::size_t kFakeDeviceBytes = std::size_t{1} << 40;

// What happened on the fake device since reset_device_counts().
struct DeviceCounts {
  std::int64_t operations = 0;  // Of LibTorch that launch a kernel; views, copies and allocations are none.
  std::int64_t to_device = 0;   // Copies from the host; of them,
  std::int64_t pageable = 0;    // those for which the host waits, because their memory is not pinned;
  std::int64_t to_host = 0;     // and to it, for which the host waits.
  std::int64_t scalars = 0;     // Values read by the host (item()), for which it waits, too.
  std::int64_t replays = 0;     // Of graphs, whose operations do not count then.
  std::int64_t rounded = 0;     // Products of bf16.
};

DeviceCounts device_counts();
void reset_device_counts();
void count_replay();

}  // namespace che
