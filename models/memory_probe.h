#pragma once

#include <cstdint>
#include <functional>

namespace che {

// The most bytes of tensors that `work` holds at once, beyond those that are there before it: what LibTorch's
// allocators hand out to this thread, on any device. It depends on what `work` computes only, not on load or
// on the number of threads, and other threads may allocate meanwhile. Scratch that fused operations keep for
// one tile or row at a time, and that of libraries, is not counted. `work` may throw.
std::int64_t peak_tensor_bytes(const std::function<void()>& work);

}  // namespace che
