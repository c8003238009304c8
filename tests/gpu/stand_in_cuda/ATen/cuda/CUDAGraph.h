// What cuda_graphs.cpp uses of LibTorch's header of this name, on the fake device.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <memory>

#include "tests/gpu/fake_graph.h"
#include "tests/gpu/fake_memory.h"

enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal };

namespace c10::cuda {

inline DeviceIndex current_device() { return 0; }

namespace CUDACachingAllocator {

inline void endAllocateToPool(DeviceIndex, MempoolId_t) {
  che::fake_memory().release_captured(che::fake_memory().end_capture());
}

}  // namespace CUDACachingAllocator
}  // namespace c10::cuda

namespace at::cuda {

inline c10::MempoolId_t graph_pool_handle() { return {0, 1}; }

struct CUDAGraph {
  void capture_begin(c10::MempoolId_t pool, cudaStreamCaptureMode mode) {
    TORCH_CHECK(pool == graph_pool_handle() && mode == cudaStreamCaptureModeThreadLocal);
    graph->begin();
  }
  void capture_end() { graph->end(); }
  void replay() { graph->replay(); }

  std::unique_ptr<che::FakeGraph> graph = std::make_unique<che::FakeGraph>();
};

}  // namespace at::cuda
