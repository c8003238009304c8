#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/ops/device/backend.h"

namespace che {

// Computes a tensor of the host from the inputs of a training step.
using HostTensor = std::function<at::Tensor()>;

// The tensors that a training step copies from the host, so that a step that is captured once reads fresh
// values from the same memory each time it is replayed. Steps of one shape are made while a Recording lives:
// the first notes its copies, later ones find them in memory that fill() copies to. Serves one thread, and
// that of its backward pass.
class StepUploads {
 public:
  // While one lives, upload_each_step() and kept_for_steps() on the GPU go to `uploads`.
  class Recording {
   public:
    Recording(StepUploads& uploads, Gpu& gpu);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

   private:
    Gpu& gpu_;
  };

  // Between the first step and the next: takes memory of `device` for everything noted.
  void allocate(const at::Device& device);

  // Makes every tensor anew and copies all to that memory, in one copy, for which the host does not wait.
  void fill();

 private:
  friend at::Tensor upload_each_step(const Backend& backend, const HostTensor& make,
                                     const at::TensorOptions& options);
  friend at::Tensor kept_for_steps(const Backend& backend, const std::function<at::Tensor()>& make);

  struct Upload {
    HostTensor make;
    std::vector<std::int64_t> shape;
    at::ScalarType type;
    std::int64_t first_byte;
    std::int64_t bytes;
  };

  at::Tensor next(const HostTensor& make, const at::TensorOptions& options);
  at::Tensor next_kept(const std::function<at::Tensor()>& make);

  std::vector<Upload> uploads_;
  std::vector<at::Tensor> kept_;
  std::int64_t bytes_ = 0;
  at::Tensor memory_;  // Bytes of the device; undefined until allocate().
  std::size_t next_ = 0;
  std::size_t next_kept_ = 0;
};

// Returns `values`, a tensor of the host, with the type and on the device of `options`. Neither waits for the
// other: a copy to a GPU goes through memory that the device reads itself (pinned).
at::Tensor upload(const at::Tensor& values, const at::TensorOptions& options);

// Uploads a step's `make()`. Within a Recording, `make` is called again for every later step: everything that
// it refers to must live as long and then have that step's values.
at::Tensor upload_each_step(const Backend& backend, const HostTensor& make, const at::TensorOptions& options);

// Returns `make()`, a tensor of the device that is the same in every step. Within a Recording it is made once
// and lives as long as the StepUploads.
at::Tensor kept_for_steps(const Backend& backend, const std::function<at::Tensor()>& make);

}  // namespace che
