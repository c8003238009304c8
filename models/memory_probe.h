#pragma once

#include <c10/core/DeviceType.h>

#include <cstdint>
#include <functional>
#include <optional>

namespace che {

// The most bytes of tensors that `work` holds at once, beyond those that are there before it: what LibTorch's
// allocators hand out to this thread, on any device or on those of kind `device`. It depends on what `work`
// computes only, not on load or on the number of threads, and other threads may allocate meanwhile. Scratch
// that fused operations keep for one tile or row at a time, and that of libraries, is not counted. `work` may
// throw.
std::int64_t peak_tensor_bytes(const std::function<void()>& work,
                               std::optional<c10::DeviceType> device = std::nullopt);

}  // namespace che
