#include "models/kernels/cuda_host/cuda_library.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>

#include "core/counted.h"
#include "core/error.h"
#include "models/kernels/cuda_host/cuda_kernels.h"

namespace che {
namespace {

constexpr const char* kRemedy = "run scripts/setup.sh cuda, or set execution.device: cpu";

// What dlopen could not do.
std::string loader_error() {
  const char* const text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

void open_torch_cuda() {
  // Its symbols are everybody's: with them it registers LibTorch's operations on CUDA devices.
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  throw Error(fmt::format("execution.device: cuda: LibTorch's CUDA part cannot be loaded ({}); {}",
                          loader_error(), kRemedy));
}

}  // namespace

const CudaKernels& open_cuda_kernels(const std::filesystem::path& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(fmt::format("execution.device: cuda: the CUDA kernels cannot be loaded ({}); {}",
                            loader_error(), kRemedy));
  }
  const auto kernels = reinterpret_cast<decltype(&che_cuda_kernels)>(dlsym(library, "che_cuda_kernels"));
  const CudaKernels* const found = kernels == nullptr ? nullptr : kernels(kCudaAbiVersion);
  if (found == nullptr) {
    throw Error(
        fmt::format("execution.device: cuda: {} does not have version {} of the CUDA kernels, which "
                    "this program needs; {}",
                    path.string(), kCudaAbiVersion, kRemedy));
  }
  return *found;
}

CudaGpu open_cuda_gpu(std::int64_t number, CudaPrecision precision) {
  // cuBLAS has the same sums in every call only with a workspace of its own; it reads this at its start.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  open_torch_cuda();
  const auto kernels = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libche_cuda.so";
  const CudaKernels& library = open_cuda_kernels(kernels);
  const auto device_number = static_cast<std::int32_t>(number);
  CudaGpu gpu{c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(number)), {}};
  if (const int error = library.describe_device(device_number, &gpu.description); error != kCudaDone) {
    throw Error(
        fmt::format("execution.device: cuda: GPU {} does not answer (CUDA error {}: {}); is its driver "
                    "installed and new enough for CUDA 13? nvidia-smi tells",
                    number, error, library.error_text(error)));
  }
  if (const std::int64_t count = at::detail::getCUDAHooks().deviceCount(); number >= count) {
    throw Error(fmt::format("execution.device: cuda: LibTorch finds {}, and no number {}",
                            counted(count, "GPU"), number));
  }
  c10::impl::VirtualGuardImpl(c10::kCUDA).setDevice(gpu.device);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  use_cuda_kernels(c10::kCUDA, library);
  set_cuda_precision(precision);
  return gpu;
}

}  // namespace che
