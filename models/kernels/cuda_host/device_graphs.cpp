#include "models/kernels/cuda_host/device_graphs.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include "core/error.h"
#include "core/resources.h"

namespace che {
namespace {

constexpr const char* kRemedy = "run scripts/setup.sh cuda, or set execution.graphs: false";

NewDeviceGraphs used = nullptr;

}  // namespace

NewDeviceGraphs open_device_graphs(const std::filesystem::path& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(fmt::format("execution.graphs: CUDA graphs cannot be loaded ({}); {}", dlerror(), kRemedy));
  }
  const auto graphs = reinterpret_cast<decltype(&che_device_graphs)>(dlsym(library, "che_device_graphs"));
  const NewDeviceGraphs found = graphs == nullptr ? nullptr : graphs(kDeviceGraphsVersion);
  if (found == nullptr) {
    throw Error(
        fmt::format("execution.graphs: {} does not have version {} of CUDA graphs, which this program "
                    "needs; {}",
                    path.string(), kDeviceGraphsVersion, kRemedy));
  }
  return found;
}

void use_device_graphs(NewDeviceGraphs chosen) { used = chosen; }

std::unique_ptr<DeviceGraphs> new_device_graphs() {
  if (used == nullptr)
    used = open_device_graphs(cuda_kernels_file().replace_filename("libche_cuda_graphs.so"));
  return used();
}

}  // namespace che
