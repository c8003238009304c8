#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace che {

// Bytes of a device beside the CPU, as LibTorch's allocator for it tells.

// Gives back what this process keeps there for later tensors.
void give_back_device_memory(const c10::Device& device);

// Those that a new process could have now. What this process keeps for later tensors is given back first.
double free_device_bytes(const c10::Device& device);

// The most bytes of tensors that this process held there at a time since reset_peak_device_bytes().
double peak_device_bytes(const c10::Device& device);
void reset_peak_device_bytes(const c10::Device& device);

}  // namespace che
