#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

namespace che {

struct Gpu;

// Work of the current device that is captured once and then started as one thing.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;

  // From begin() to end(), work that this thread, or the backward pass that it starts, enqueues in the
  // current stream is captured and not done. Tensors created meanwhile have no values. The stream is not the
  // default one. Every begin() has its end(), also after an error.
  virtual void begin() = 0;
  virtual void end() = 0;

  // Enqueues what was captured in the current stream. It reads and writes the memory that it did then.
  virtual void replay() = 0;
};

// The graphs share memory. A replay overwrites the values that an earlier one of any of them left, except
// tensors of a capture that are alive when the next one is captured.
class DeviceGraphs {
 public:
  virtual ~DeviceGraphs() = default;
  virtual std::unique_ptr<DeviceGraph> create() = 0;
};

using NewDeviceGraphs = std::unique_ptr<DeviceGraphs> (*)();

// Changes with this header. A library has one symbol, che_device_graphs(); null where `version` is not its
// own.
constexpr std::int32_t kDeviceGraphsVersion = 1;
extern "C" __attribute__((visibility("default"))) NewDeviceGraphs che_device_graphs(std::int32_t version);

// Opens such a library, which stays for the process' life. Throws Error (usage) that names the remedy where
// it is missing or of another version.
NewDeviceGraphs open_device_graphs(const std::filesystem::path& path);

// Creates the GPU's graphs: by its own create_graphs, or by libche_cuda_graphs.so beside the program.
std::unique_ptr<DeviceGraphs> new_device_graphs(const Gpu& gpu);

}  // namespace che
