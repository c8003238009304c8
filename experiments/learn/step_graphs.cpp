#include "experiments/learn/step_graphs.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <utility>

#include "experiments/learn/batches.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/training.h"
#include "models/ops/adam/adam_kernels.h"
#include "models/ops/device/backend.h"

namespace che {
namespace {

// Lets all later work of `second` come after the present work of `first`.
void put_in_order(const c10::Stream& first, const c10::Stream& second) {
  c10::Event event(first.device_type());
  event.record(first);
  event.block(second);
}

// Calls `work()` with `stream` as the current one, after the present work of the other one and before its
// later work.
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

c10::Stream new_stream(const at::Device& device) {
  return c10::impl::VirtualGuardImpl(device.type()).getNewStream(device);
}

}  // namespace

StepGraphs::StepGraphs(Model& model, Adam adam)
    : model_(model),
      adam_(std::move(adam)),
      graphs_(new_device_graphs(*model.backend().gpu)),
      stream_(new_stream(model.backend().device())) {}

at::Tensor StepGraphs::step(const SequenceBatch& batch, const Pass& pass, std::int64_t step,
                            double rate_fraction) {
  batch_ = packed(batch, 0, batch.size);
  positions_ = pass.positions;
  pass_.dropout = pass.dropout;
  step_ = step;
  adam_.rate_fraction = rate_fraction;
  const Shape shape{batch.size, batch.width, batch.outputs};
  const auto found = by_shape_.find(shape);
  if (found == by_shape_.end()) {
    Graph graph;
    const at::Tensor measured = in_stream(stream_, [&] { return make(graph.uploads, batch.outputs); });
    by_shape_.emplace(shape, std::move(graph));
    return measured;
  }
  Graph& graph = found->second;
  if (graph.graph != nullptr) {
    graph.uploads.fill();
  } else {
    capture(graph, batch.outputs);
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
  const at::TensorOptions on_device = at::TensorOptions().device(backend.device());
  const StepUploads::Recording recording(uploads, *backend.gpu);
  const at::Tensor batch = upload_each_step(
      backend, [this] { return batch_; }, on_device.dtype(batch_.scalar_type()));
  const auto values = [this] {
    const GpuStep now =
        gpu_step(static_cast<std::uint32_t>(step_), adam_.settings(step_, adam_.rate_fraction));
    const at::Tensor copy = at::empty({sizeof(now)}, at::kByte);
    std::memcpy(copy.mutable_data_ptr(), &now, sizeof(now));
    return copy;
  };
  const at::Tensor uploaded = upload_each_step(backend, values, on_device.dtype(at::kByte));
  const KernelsRead kernels_read(*backend.gpu, uploaded);
  return training_step(model_, adam_, unpacked(batch, outputs), pass_, step_, adam_.rate_fraction);
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
