#include "tests/gpu/fake_device.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>
#include <torch/library.h>

#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "tests/gpu/fake_graph.h"
#include "tests/gpu/fake_memory.h"

namespace che {
namespace {

constexpr auto kFake = c10::DeviceType::PrivateUse1;
const c10::DispatchKeySet kFakeKeys(c10::DispatchKey::PrivateUse1);

// The backward pass runs in a thread of its own.
std::atomic<std::int64_t> operations, to_device, pageable, to_host, scalars, replays, rounded;

// Streams that do everything at once: events do nothing, because every operation ends before it returns.
class Guard : public c10::impl::NoOpDeviceGuardImpl<kFake> {
 public:
  // The base class answers -1, with which the autograd engine would read outside its tables.
  c10::Device exchangeDevice(c10::Device) const override { return fake_device(); }
  c10::Device getDevice() const override { return fake_device(); }
  c10::Stream getStream(c10::Device) const noexcept override { return current(); }
  c10::Stream getDefaultStream(c10::Device) const override { return default_stream(); }
  c10::Stream getNewStream(c10::Device, int) const override {
    return c10::Stream(c10::Stream::UNSAFE, fake_device(), 1);
  }
  void* getStreamNativeHandle(const c10::Stream) const override { return nullptr; }
  c10::Stream exchangeStream(c10::Stream next) const noexcept override {
    return std::exchange(current(), next);
  }
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
  static c10::Stream default_stream() { return c10::Stream(c10::Stream::DEFAULT, fake_device()); }
  static c10::Stream& current() {
    thread_local c10::Stream stream = default_stream();
    return stream;
  }
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
  c10::SetAllocator(kFake, &fake_memory());
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
  return at::detail::empty_generic(size, &fake_memory(), kFakeKeys, type.value_or(at::kFloat), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &fake_memory(), kFakeKeys,
                                           type.value_or(at::kFloat));
}

// Whether the thread computes an operation, whose copies are none of a GPU.
thread_local bool is_computing = false;

void compute(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const bool before = std::exchange(is_computing, true);
  at::native::cpu_fallback(operation, stack);
  is_computing = before;
}

void write(const at::Tensor& to, const at::Tensor& from) {
  if (to.defined() && to.data_ptr() != from.data_ptr()) on_host(to).copy_(on_host(from));
}

void write(const c10::IValue& to, const c10::IValue& from) {
  if (to.isTensor()) write(to.toTensor(), from.toTensor());
  if (!to.isTensorList()) return;
  for (std::size_t i = 0; i < to.toTensorList().size(); ++i) {
    write(to.toTensorVector()[i], from.toTensorVector()[i]);
  }
}

// Has `graph` compute it again, with the inputs and into the results that it had.
void capture(FakeGraph& graph, const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const torch::jit::Stack inputs = torch::jit::last(*stack, operation.schema().arguments().size()).vec();
  compute(operation, stack);
  const torch::jit::Stack results = torch::jit::last(*stack, operation.schema().returns().size()).vec();
  graph.add([operation, inputs, results] {
    const at::AutoDispatchBelowAutograd no_gradients;
    torch::jit::Stack again = inputs;
    compute(operation, &again);
    for (std::size_t i = 0; i < results.size(); ++i) write(results[i], again[i]);
  });
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  if (is_computing) {
    on_host(to).copy_(on_host(from));
    return to;
  }
  if (FakeGraph* const graph = FakeGraph::capturing()) {
    TORCH_CHECK(!from.is_cpu() && !to.is_cpu(), "a graph has no copies between host and device");
    graph->add([from, to] { on_host(to).copy_(on_host(from)); });
  }
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
  TORCH_CHECK(FakeGraph::capturing() == nullptr, "a graph has no values that the host reads");
  ++scalars;
  return on_host(x).item();
}

const at::Tensor& resize(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat>) {
  std::size_t bytes = self.element_size();
  for (const std::int64_t extent : size) bytes *= static_cast<std::size_t>(extent);
  bytes += static_cast<std::size_t>(self.storage_offset()) * self.element_size();
  if (self.storage().nbytes() < bytes) {
    self.storage().set_data_ptr_noswap(fake_memory().allocate(bytes));
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
  if (FakeGraph* const graph = FakeGraph::capturing()) return capture(*graph, operation, stack);
  compute(operation, stack);
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

// A GPU's products of bf16, which LibTorch has for no CPU.
at::Tensor& multiply(const at::Tensor& a, const at::Tensor& b, at::ScalarType of_out, at::Tensor& out) {
  ++rounded;
  return at::bmm_out(out, a.to(of_out), b.to(of_out));
}

at::Tensor& multiply_and_add(const at::Tensor& self, const at::Tensor& a, const at::Tensor& b,
                             at::ScalarType of_out, const at::Scalar& beta, const at::Scalar& alpha,
                             at::Tensor& out) {
  ++rounded;
  return at::baddbmm_out(out, self, a.to(of_out), b.to(of_out), beta, alpha);
}

TORCH_LIBRARY_IMPL(aten, CPU, library) {
  library.impl("bmm.dtype_out", &multiply);
  library.impl("baddbmm.dtype_out", &multiply_and_add);
}

}  // namespace

// Autograd computes backward on a thread of the device. A product of several threads may round otherwise, and
// a limit that is set later holds for the thread that sets it.
[[maybe_unused]] const bool computes_on_one_thread = (at::set_num_threads(1), true);

// Registers a guard with LibTorch; the macro needs the type's plain name.
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

at::Device fake_device() { return {kFake, 0}; }

DeviceCounts device_counts() {
  return {.operations = operations,
          .to_device = to_device,
          .pageable = pageable,
          .to_host = to_host,
          .scalars = scalars,
          .replays = replays,
          .rounded = rounded};
}

void reset_device_counts() {
  operations = 0;
  to_device = 0;
  pageable = 0;
  to_host = 0;
  scalars = 0;
  replays = 0;
  rounded = 0;
}

void count_replay() { ++replays; }

}  // namespace che
