#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "experiments/plan/encoding_config.h"
#include "models/ops/device/backend.h"
#include "models/ops/device/device_graphs.h"
#include "tests/gpu/fake_device.h"

namespace che {

// The fake device with the CUDA kernels, which an emulation runs, and with its own graphs.
inline const std::shared_ptr<Gpu>& emulated_gpu() {
  static const auto gpu = [] {
    const CudaLibrary* const library = che_cuda_library(kCudaLibraryVersion);
    auto emulated = std::make_shared<Gpu>(Gpu{.device = fake_device(), .library = library});
    library->describe_device(0, &emulated->description);
    emulated->create_graphs = open_device_graphs(CHE_STAND_IN_GRAPHS);
    return emulated;
  }();
  return gpu;
}

inline Backend backend_on(const at::Device& device, Kernels kernels) {
  return {kernels, at::TensorOptions().dtype(at::kFloat).device(device),
          device.is_cpu() ? nullptr : emulated_gpu()};
}
inline Backend on_the_device(Kernels kernels = Kernels::kFused) { return backend_on(fake_device(), kernels); }

inline NamedEncoding encoding_called(const std::string& name) {
  NamedEncoding encoding{.name = name, .config = {}};
  encoding.config.reset(name);
  return encoding;
}

// Other kernels in place of the emulated ones while it exists.
class OtherKernels {
 public:
  explicit OtherKernels(const KernelTable& kernels) : library_(*che_cuda_library(kCudaLibraryVersion)) {
    library_.kernels = kernels;
    emulated_gpu()->library = &library_;
  }
  ~OtherKernels() { emulated_gpu()->library = che_cuda_library(kCudaLibraryVersion); }
  OtherKernels(const OtherKernels&) = delete;
  OtherKernels& operator=(const OtherKernels&) = delete;

 private:
  CudaLibrary library_;
};

// The emulated kernels themselves.
inline const KernelTable& emulated_kernels() { return che_cuda_library(kCudaLibraryVersion)->kernels; }

}  // namespace che
