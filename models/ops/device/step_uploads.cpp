#include "models/ops/device/step_uploads.h"

#include <ATen/ATen.h>
#include <c10/util/ScopeExit.h>

#include <cstring>

#include "core/error.h"

namespace che {
namespace {

// Kernels may expect this of a tensor's memory.
constexpr std::int64_t kAlignment = 256;

at::Tensor host_tensor(const HostTensor& make, at::ScalarType type) { return make().to(type).contiguous(); }

}  // namespace

StepUploads::Recording::Recording(StepUploads& uploads, Gpu& gpu) : gpu_(gpu) {
  uploads.next_ = uploads.next_kept_ = 0;
  gpu.recording = &uploads;
}

StepUploads::Recording::~Recording() { gpu_.recording = nullptr; }

void StepUploads::allocate(const at::Device& device) {
  memory_ = at::empty({bytes_}, at::TensorOptions().dtype(at::kByte).device(device));
}

void StepUploads::fill() {
  // Fresh memory each time: the device may not have read that of the step before.
  const at::Tensor host = at::empty({bytes_}, at::TensorOptions().dtype(at::kByte).pinned_memory(true));
  for (const Upload& upload : uploads_) {
    const at::Tensor values = host_tensor(upload.make, upload.type);
    if (values.sizes() != upload.shape) {
      throw Error("a training step copies tensors of another shape than the first", ErrorKind::kRuntime);
    }
    std::memcpy(host.mutable_data_ptr<std::uint8_t>() + upload.first_byte, values.const_data_ptr(),
                values.nbytes());
  }
  memory_.copy_(host, /*non_blocking=*/true);
}

at::Tensor StepUploads::next(const HostTensor& make, const at::TensorOptions& options) {
  const at::ScalarType type = options.dtype().toScalarType();
  if (!memory_.defined()) {
    const at::Tensor values = host_tensor(make, type);
    const auto bytes = static_cast<std::int64_t>(values.nbytes());
    uploads_.push_back({make, values.sizes().vec(), type, bytes_, bytes});
    bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return upload(values, options);
  }
  if (next_ == uploads_.size()) {
    throw Error("a training step copies more to the device than the first of its shape", ErrorKind::kRuntime);
  }
  const Upload& next = uploads_[next_++];
  return memory_.narrow(0, next.first_byte, next.bytes).view(next.type).view(next.shape);
}

at::Tensor StepUploads::next_kept(const std::function<at::Tensor()>& make) {
  if (!memory_.defined()) return kept_.emplace_back(make());
  if (next_kept_ == kept_.size()) {
    throw Error("a training step reads more tables than the first of its shape", ErrorKind::kRuntime);
  }
  return kept_[next_kept_++];
}

at::Tensor upload(const at::Tensor& values, const at::TensorOptions& options) {
  const at::Tensor converted = values.to(options.dtype());
  if (options.device().is_cpu()) return converted;
  return converted.contiguous().pin_memory().to(options.device(), options.dtype().toScalarType(),
                                                /*non_blocking=*/true);
}

at::Tensor upload_each_step(const Backend& backend, const HostTensor& make,
                            const at::TensorOptions& options) {
  StepUploads* const recording = backend.gpu == nullptr ? nullptr : backend.gpu->recording;
  return recording == nullptr ? upload(make(), options) : recording->next(make, options);
}

at::Tensor kept_for_steps(const Backend& backend, const std::function<at::Tensor()>& make) {
  StepUploads* const recording = backend.gpu == nullptr ? nullptr : backend.gpu->recording;
  if (recording == nullptr) return make();
  // A replay reads the result alone, so nothing that it is made of is recorded.
  return recording->next_kept([&] {
    backend.gpu->recording = nullptr;
    const auto go_on = c10::make_scope_exit([&] { backend.gpu->recording = recording; });
    return make();
  });
}

}  // namespace che
