#include "tests/gpu/fake_device.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>
#include <torch/library.h>

#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>

namespace che {
namespace {

constexpr auto kFake = c10::DeviceType::PrivateUse1;
const c10::DispatchKeySet kFakeKeys(c10::DispatchKey::PrivateUse1);

// The backward pass runs in a thread of its own.
std::atomic<std::int64_t> operations, to_device, pageable, to_host, scalars;

// Counts bytes and tells LibTorch's profilers of them, as a GPU's allocator does.
class HostMemory : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const memory = c10::alloc_cpu(bytes);
    if (memory != nullptr) {
      const std::lock_guard lock(mutex());
      blocks()[memory] = bytes;
    }
    count(memory, static_cast<std::int64_t>(bytes));
    return {memory, memory, &release, fake_device()};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    const std::lock_guard lock(mutex());
    c10::CachingDeviceAllocator::DeviceStats stats;
    stats.allocated_bytes[0] = allocated();
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {
    const std::lock_guard lock(mutex());
    allocated().reset_peak();
  }
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override {
    const std::lock_guard lock(mutex());
    return {kFakeDeviceBytes - static_cast<std::size_t>(allocated().current), kFakeDeviceBytes};
  }

 private:
  static void release(void* memory) {
    if (memory == nullptr) return;
    std::int64_t bytes = 0;
    {
      const std::lock_guard lock(mutex());
      bytes = static_cast<std::int64_t>(blocks().extract(memory).mapped());
    }
    count(memory, -bytes);
    c10::free_cpu(memory);
  }
  static void count(void* memory, std::int64_t bytes) {
    std::size_t now = 0;
    {
      const std::lock_guard lock(mutex());
      if (bytes > 0) allocated().increase(static_cast<std::size_t>(bytes));
      if (bytes < 0) allocated().decrease(static_cast<std::size_t>(-bytes));
      now = static_cast<std::size_t>(allocated().current);
    }
    c10::reportMemoryUsageToProfiler(memory, bytes, now, now, fake_device());
  }
  static std::mutex& mutex() {
    static std::mutex lock;
    return lock;
  }
  static std::map<const void*, std::size_t>& blocks() {
    // Never destroyed: other static objects keep tensors.
    static auto* const all = new std::map<const void*, std::size_t>;
    return *all;
  }
  static c10::CachingAllocator::Stat& allocated() {
    static c10::CachingAllocator::Stat bytes;
    return bytes;
  }
};

HostMemory& host_memory() {
  static HostMemory memory;
  return memory;
}

// One stream. Events do nothing, because every operation ends before it returns.
class Guard : public c10::impl::NoOpDeviceGuardImpl<kFake> {
 public:
  // The base class answers -1, with which the autograd engine would read outside its tables.
  c10::Device exchangeDevice(c10::Device) const override { return fake_device(); }
  c10::Device getDevice() const override { return fake_device(); }
  c10::Stream getStream(c10::Device) const noexcept override { return stream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(); }
  c10::Stream getNewStream(c10::Device, int) const override { return stream(); }
  void* getStreamNativeHandle(const c10::Stream) const override { return nullptr; }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream(); }
  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {
    *event = const_cast<Guard*>(this);
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, c10::DeviceIndex) const noexcept override {}
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeEvent(void*) const override {}

 private:
  static c10::Stream stream() { return c10::Stream(c10::Stream::DEFAULT, fake_device()); }
};

// Memory of the host that a GPU would read itself.
class PinnedMemory : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const memory = c10::alloc_cpu(bytes);
    const std::lock_guard lock(mutex());
    blocks()[memory] = bytes;
    return {memory, memory, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  static bool has(const void* data) {
    const std::lock_guard lock(mutex());
    const auto after = blocks().upper_bound(data);
    if (after == blocks().begin()) return false;
    const auto& [first, bytes] = *std::prev(after);
    return data < static_cast<const char*>(first) + bytes;
  }

 private:
  static void release(void* memory) {
    {
      const std::lock_guard lock(mutex());
      blocks().erase(memory);
    }
    c10::free_cpu(memory);
  }
  static std::mutex& mutex() {
    static std::mutex lock;
    return lock;
  }
  static std::map<const void*, std::size_t>& blocks() {
    static std::map<const void*, std::size_t> all;
    return all;
  }
};

class Hooks : public at::PrivateUse1HooksInterface {
 public:
  bool isPinnedPtr(const void* data) const override { return PinnedMemory::has(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override {
    static PinnedMemory memory;
    return &memory;
  }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
};

const bool registered = [] {
  static Hooks hooks;
  c10::SetAllocator(kFake, &host_memory());
  at::RegisterPrivateUse1HooksInterface(&hooks);
  c10::register_privateuse1_backend("fake");
  return true;
}();

// The same memory as a tensor of the CPU.
at::Tensor on_host(const at::Tensor& x) {
  if (x.is_cpu()) return x;
  return at::from_blob(x.data_ptr(), x.sizes(), x.strides(), at::TensorOptions().dtype(x.dtype()));
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &host_memory(), kFakeKeys, type.value_or(at::kFloat), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &host_memory(), kFakeKeys,
                                           type.value_or(at::kFloat));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  if (from.is_cpu()) {
    ++to_device;
    if (!non_blocking || !PinnedMemory::has(from.const_data_ptr())) ++pageable;
  }
  if (to.is_cpu()) ++to_host;
  if (!from.is_cpu() && !to.is_cpu()) ++operations;
  on_host(to).copy_(on_host(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  // What has the size keeps its strides: a view is written through.
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return copy_from(from, to, false);
}

at::Scalar read_scalar(const at::Tensor& x) {
  ++scalars;
  return on_host(x).item();
}

const at::Tensor& resize(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat>) {
  std::size_t bytes = self.element_size();
  for (const std::int64_t extent : size) bytes *= static_cast<std::size_t>(extent);
  bytes += static_cast<std::size_t>(self.storage_offset()) * self.element_size();
  if (self.storage().nbytes() < bytes) {
    self.storage().set_data_ptr_noswap(host_memory().allocate(bytes));
    self.storage().set_nbytes(bytes);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  return self;
}

at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                      std::optional<std::int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

at::Tensor reshape_alias(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride) {
  return at::native::as_strided_tensorimpl(self, size, stride, self.storage_offset());
}

at::Tensor view(const at::Tensor& self, at::IntArrayRef size) { return at::native::view(self, size); }

at::Tensor unfold(const at::Tensor& self, std::int64_t axis, std::int64_t size, std::int64_t step) {
  return at::native::unfold(self, axis, size, step);
}

// The fallback itself would take a tensor of the CPU among those of the device. A GPU takes scalars only.
void check_device(const c10::OperatorHandle& operation, const at::Tensor& x) {
  TORCH_CHECK(!x.defined() || !x.is_cpu() || x.dim() == 0, operation.schema().name(),
              ": a tensor of the CPU beside one of the device");
}

void fall_back(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  ++operations;
  for (const c10::IValue& value : torch::jit::last(*stack, operation.schema().arguments().size())) {
    if (value.isTensor()) check_device(operation, value.toTensor());
    if (value.isTensorList()) {
      for (const at::Tensor& x : value.toTensorVector()) check_device(operation, x);
    }
  }
  // Copies that the fallback makes are none of a GPU.
  const DeviceCounts before = device_counts();
  at::native::cpu_fallback(operation, stack);
  operations = before.operations;
  to_device = before.to_device;
  pageable = before.pageable;
  to_host = before.to_host;
  scalars = before.scalars;
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &read_scalar);
  library.impl("resize_", &resize);
  library.impl("as_strided", &as_strided);
  library.impl("_reshape_alias", &reshape_alias);
  library.impl("view", &view);
  library.impl("unfold", &unfold);
}

}  // namespace

// Registers a guard with LibTorch; the macro needs the type's plain name.
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

at::Device fake_device() { return {kFake, 0}; }

DeviceCounts device_counts() {
  return {.operations = operations,
          .to_device = to_device,
          .pageable = pageable,
          .to_host = to_host,
          .scalars = scalars};
}

void reset_device_counts() {
  operations = 0;
  to_device = 0;
  pageable = 0;
  to_host = 0;
  scalars = 0;
}

}  // namespace che
