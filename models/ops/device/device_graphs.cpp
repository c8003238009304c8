#include "models/ops/device/device_graphs.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include "core/error.h"
#include "core/resources.h"
#include "models/ops/device/backend.h"

namespace che {
namespace {

constexpr const char* kGraphsRemedy = "run scripts/setup.sh cuda, or set execution.graphs: false";

}  // namespace

NewDeviceGraphs open_device_graphs(const std::filesystem::path& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(
        fmt::format("execution.graphs: CUDA graphs cannot be loaded ({}); {}", dlerror(), kGraphsRemedy));
  }
  const auto graphs = reinterpret_cast<decltype(&che_device_graphs)>(dlsym(library, "che_device_graphs"));
  const NewDeviceGraphs loaded = graphs == nullptr ? nullptr : graphs(kDeviceGraphsVersion);
  if (loaded == nullptr) {
    throw Error(
        fmt::format("execution.graphs: {} does not have version {} of CUDA graphs, which this program "
                    "needs; {}",
                    path.string(), kDeviceGraphsVersion, kGraphsRemedy));
  }
  return loaded;
}

std::unique_ptr<DeviceGraphs> new_device_graphs(const Gpu& gpu) {
  if (gpu.create_graphs != nullptr) return gpu.create_graphs();
  return open_device_graphs(cuda_kernels_file().replace_filename("libche_cuda_graphs.so"))();
}

}  // namespace che
