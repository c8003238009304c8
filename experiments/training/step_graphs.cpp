#include "experiments/training/step_graphs.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <utility>

#include "experiments/training/tensor_batch.h"
#include "experiments/training/training.h"
#include "models/device_memory.h"
#include "models/ops/adam/adam_kernels.h"
#include "models/ops/device/backend.h"

namespace che {
namespace {

// What `second` gets from now on comes after what `first` has.
void put_in_order(const c10::Stream& first, const c10::Stream& second) {
  c10::Event event(first.device_type());
  event.record(first);
  event.block(second);
}

// `work()` with `stream` as the current one: after what the other one has, and before what it gets later.
at::Tensor in_stream(const c10::Stream& stream, const std::function<at::Tensor()>& work) {
  const c10::Stream other = c10::impl::VirtualGuardImpl(stream.device_type()).getStream(stream.device());
  put_in_order(other, stream);
  const at::Tensor result = [&] {
    const c10::StreamGuard guard(stream);
    return work();
  }();
  put_in_order(stream, other);
  return result;
}

// Has the CUDA kernels read `step`, bytes of a GpuStep on the device, while it lives.
class KernelsRead {
 public:
  KernelsRead(Gpu& gpu, const at::Tensor& step) : gpu_(gpu) {
    gpu.step = static_cast<const GpuStep*>(step.const_data_ptr());
  }
  ~KernelsRead() { gpu_.step = nullptr; }
  KernelsRead(const KernelsRead&) = delete;
  KernelsRead& operator=(const KernelsRead&) = delete;

 private:
  Gpu& gpu_;
};

// Captures `work()`. A capture also ends after an error, which is thrown then, whatever the end has to say.
at::Tensor captured_by(DeviceGraph& graph, const std::function<at::Tensor()>& work) {
  graph.begin();
  at::Tensor result;
  try {
    result = work();
  } catch (...) {
    try {
      graph.end();
    } catch (const std::exception&) {
    }
    throw;
  }
  graph.end();
  return result;
}

at::TensorOptions bytes_of(const at::Device& device) {
  return at::TensorOptions().dtype(at::kByte).device(device);
}

c10::Stream new_stream(const at::Device& device) {
  return c10::impl::VirtualGuardImpl(device.type()).getNewStream(device);
}

}  // namespace

StepGraphs::StepGraphs(Transformer& model, const Adam& adam)
    : model_(model),
      adam_(adam),
      graphs_(new_device_graphs(*model.backend().gpu)),
      stream_(new_stream(model.backend().device())) {}

at::Tensor StepGraphs::step(const Batch& batch, const Positions& positions, const Dropout& dropout,
                            std::int64_t step, double rate_fraction) {
  bytes_ = batch_bytes(batch, 0, batch.size, model_.vocabulary().empty_symbol());
  positions_ = positions;
  dropout_ = dropout;
  step_ = step;
  rate_fraction_ = rate_fraction;
  const Shape shape{batch.size, batch.input_length, batch.output_length};
  const auto found = by_shape_.find(shape);
  if (found == by_shape_.end()) {
    Graph graph;
    const at::Tensor measured = in_stream(stream_, [&] { return make(graph.uploads, batch.output_length); });
    by_shape_.emplace(shape, std::move(graph));
    return measured;
  }
  Graph& graph = found->second;
  if (graph.graph != nullptr) {
    graph.uploads.fill();
  } else {
    capture(graph, batch.output_length);
  }
  graph.graph->replay();
  return graph.measured.clone();
}

std::size_t StepGraphs::count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(by_shape_, [](const auto& one) { return one.second.graph != nullptr; }));
}

at::Tensor StepGraphs::make(StepUploads& uploads, std::int64_t outputs) {
  const Backend& backend = model_.backend();
  const at::TensorOptions bytes = bytes_of(backend.device());
  const StepUploads::Recording recording(uploads, *backend.gpu);
  const at::Tensor batch = upload_each_step(
      backend, [this] { return bytes_; }, bytes);
  const auto values = [this] {
    const GpuStep now = gpu_step(static_cast<std::uint32_t>(step_), adam_.settings(step_, rate_fraction_));
    const at::Tensor copy = at::empty({sizeof(now)}, at::kByte);
    std::memcpy(copy.mutable_data_ptr(), &now, sizeof(now));
    return copy;
  };
  const at::Tensor of_step = upload_each_step(backend, values, bytes);
  const KernelsRead kernels_read(*backend.gpu, of_step);
  return training_step(model_, adam_, batch_of_bytes(batch, outputs), positions_, dropout_, step_,
                       rate_fraction_);
}

void StepGraphs::capture(Graph& graph, std::int64_t outputs) {
  const at::Device device = model_.backend().device();
  // Graphs have memory of their own.
  give_back_device_memory(device);
  // Filled before, because the fake device of the tests computes what it captures.
  graph.uploads.allocate(device);
  graph.uploads.fill();
  std::unique_ptr<DeviceGraph> captured = graphs_->create();
  graph.measured = in_stream(
      stream_, [&] { return captured_by(*captured, [&] { return make(graph.uploads, outputs); }); });
  graph.graph = std::move(captured);
}

}  // namespace che
