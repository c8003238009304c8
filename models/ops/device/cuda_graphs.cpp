// libche_cuda_graphs.so: LibTorch's CUDA graphs behind device_graphs.h. A library of its own, because what
// includes LibTorch's CUDA headers needs libtorch_cuda.so, without which the program starts.
#include <ATen/cuda/CUDAGraph.h>

#include <utility>

#include "models/ops/device/device_graphs.h"

namespace che {
namespace {

class CudaGraph : public DeviceGraph {
 public:
  explicit CudaGraph(c10::MempoolId_t pool) : pool_(std::move(pool)) {}

  // Other threads, which sample batches, may do with CUDA what they like meanwhile.
  void begin() override { graph_.capture_begin(pool_, cudaStreamCaptureModeThreadLocal); }
  void end() override {
    try {
      graph_.capture_end();
    } catch (...) {
      stop_allocating();
      throw;
    }
  }
  void replay() override { graph_.replay(); }

 private:
  // LibTorch leaves this out where CUDA calls the capture invalid: its allocator would go on to ask the
  // graph, which is gone then, for each tensor, and begin no other capture.
  void stop_allocating() {
    try {
      c10::cuda::CUDACachingAllocator::endAllocateToPool(c10::cuda::current_device(), pool_);
    } catch (const c10::Error&) {  // It has stopped.
    }
  }

  c10::MempoolId_t pool_;
  at::cuda::CUDAGraph graph_;
};

class CudaGraphs : public DeviceGraphs {
 public:
  std::unique_ptr<DeviceGraph> create() override { return std::make_unique<CudaGraph>(pool_); }

 private:
  c10::MempoolId_t pool_ = at::cuda::graph_pool_handle();
};

std::unique_ptr<DeviceGraphs> new_cuda_graphs() { return std::make_unique<CudaGraphs>(); }

}  // namespace

extern "C" NewDeviceGraphs che_device_graphs(std::int32_t version) {
  return version == kDeviceGraphsVersion ? new_cuda_graphs : nullptr;
}

}  // namespace che
