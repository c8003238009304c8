#include "models/ops/device/cuda_library.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/core.h>

#include <map>

#include "core/error.h"
#include "core/resources.h"
#include "core/text.h"
#include "models/ops/device/backend.h"

namespace che {
namespace {

constexpr const char* kRemedy = "run scripts/setup.sh cuda, or set execution.device: cpu";

// The reason of dlopen's last failure.
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

const CudaLibrary& open_cuda_library(const std::filesystem::path& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(fmt::format("execution.device: cuda: the CUDA kernels cannot be loaded ({}); {}",
                            loader_error(), kRemedy));
  }
  const auto kernels = reinterpret_cast<decltype(&che_cuda_library)>(dlsym(library, "che_cuda_library"));
  const CudaLibrary* const loaded = kernels == nullptr ? nullptr : kernels(kCudaLibraryVersion);
  if (loaded == nullptr) {
    throw Error(
        fmt::format("execution.device: cuda: {} does not have version {} of the CUDA kernels, which "
                    "this program needs; {}",
                    path.string(), kCudaLibraryVersion, kRemedy));
  }
  return *loaded;
}

void set_up_numerics() {
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  // Else every new tensor would be filled with NaN first.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

std::shared_ptr<Gpu> open_cuda_gpu(std::int64_t number, GpuPrecision precision) {
  static std::map<std::int64_t, std::shared_ptr<Gpu>> opened;
  if (const auto gpu = opened.find(number); gpu != opened.end()) {
    gpu->second->set_precision(precision);
    return gpu->second;
  }
  open_torch_cuda();
  if (!at::detail::getCUDAHooks().isBuilt()) {
    throw Error(
        "LibTorch looked for its CUDA part before that was loaded, and looks only once: a GPU must be opened "
        "before the first backward pass on the CPU",
        ErrorKind::kRuntime);
  }
  const std::filesystem::path file = cuda_kernels_file();
  const CudaLibrary& library = open_cuda_library(file);
  const c10::DeviceIndex count = at::detail::getCUDAHooks().deviceCount();
  const auto gpu = std::make_shared<Gpu>(
      Gpu{.device = c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(number)), .library = &library});
  const int error =
      library.describe_device(static_cast<std::int32_t>(count == 0 ? 0 : number), &gpu->description);
  if (count == 0) {
    throw Error(
        fmt::format("execution.device: cuda: CUDA finds no GPU (error {}: {}); its driver must be R580 or "
                    "newer, which serve CUDA 13: nvidia-smi tells",
                    error, library.error_text(error)));
  }
  if (number >= count) {
    throw Error(fmt::format("execution.device: cuda:{}: {} visible, counted from 0", number,
                            counted(count, "GPU") + (count == 1 ? " is" : " are")));
  }
  if (error != kKernelDone) {
    throw Error(fmt::format("execution.device: cuda: GPU {} does not answer (CUDA error {}: {})", number,
                            error, library.error_text(error)));
  }
  constexpr std::int32_t kLeastCapability = 80;
  if (gpu->description.compute_capability < kLeastCapability) {
    throw Error(fmt::format(
        "execution.device: cuda: {} has compute capability {:.1f}; the kernels need {:.1f}",
        gpu->description.name, gpu->description.compute_capability / 10.0, kLeastCapability / 10.0));
  }
  c10::impl::VirtualGuardImpl(c10::kCUDA).setDevice(gpu->device);
  set_up_numerics();
  gpu->set_precision(precision);
  return opened.emplace(number, gpu).first->second;
}

}  // namespace che
