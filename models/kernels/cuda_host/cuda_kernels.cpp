#include "models/kernels/cuda_host/cuda_kernels.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "models/kernels/cuda/plain_inputs.h"

namespace che {
namespace {

// Queries at once in a pass without gradients over a bias by pair: f's hidden bias of 64 features over 1,000
// keys then takes 128 MiB of each replica.
constexpr std::int64_t kQueryBlock = 512;

// What use_cuda_kernels() was given. Written before the first operation of the device, read by every thread.
struct Library {
  c10::Device device;
  const CudaKernels* kernels;
  KernelTable table;
  CudaPrecision precision = CudaPrecision::kFp32;
  const CudaStep* step = nullptr;
};
std::optional<Library> library;

const CudaKernels& kernels() { return *library->kernels; }

// One call's stream and workspace. The workspace is given back to the allocator, which lets nobody but later
// work of the same stream have it.
class Call {
 public:
  explicit Call(std::int64_t workspace_floats = 0) : guard_(library->device) {
    const c10::Device device = library->device;
    const c10::impl::VirtualGuardImpl streams(device.type());
    if (workspace_floats > 0) {
      workspace_ = at::empty({workspace_floats}, at::TensorOptions().dtype(at::kFloat).device(device));
    }
    call_ = {.stream = streams.getStreamNativeHandle(streams.getStream(device)),
             .workspace = workspace_.defined() ? workspace_.mutable_data_ptr<float>() : nullptr,
             .precision = library->precision,
             .step = library->step};
  }

  const CudaCall* get() const { return &call_; }

 private:
  c10::DeviceGuard guard_;
  at::Tensor workspace_;
  CudaCall call_{};
};

// Throws unless a function of the library did its work.
void check(int answer, const char* operation) {
  if (answer == kCudaDone) return;
  if (answer == kCudaNotServed) {
    throw Error(fmt::format("{}: the CUDA kernels do not serve this shape; set execution.kernels: reference",
                            operation),
                ErrorKind::kRuntime);
  }
  throw Error(fmt::format("{}: CUDA error {}: {}", operation, answer, kernels().error_text(answer)),
              ErrorKind::kRuntime);
}

bool attention_serves(const AttentionShape& shape, bool has_gradients) {
  return kernels().attention_serves(&shape, has_gradients) == kCudaDone;
}

std::int64_t attention_saved_values(const AttentionShape& shape) {
  return kernels().attention_saved_values(&shape);
}

void attention_forward(const AttentionInputs& in, const ExampleView<float>& out, float* saved) {
  const Call call;
  check(kernels().attention_forward(call.get(), &in, &out, saved), "attention");
}

void attention_backward(const AttentionInputs& in, const float* saved, const ExampleView<const float>& d_out,
                        const AttentionGradients& out) {
  const Call call(kernels().attention_backward_workspace(&in, &out));
  check(kernels().attention_backward(call.get(), &in, saved, &d_out, &out), "attention's gradient");
}

bool dropout_serves(std::int64_t replicas, std::int64_t batch) {
  return kernels().dropout_serves(replicas, batch) == kCudaDone;
}

void dropout(const DropoutInputs& in, float* out) {
  const Call call;
  const CudaDropoutInputs plain = plain_inputs(in);
  check(kernels().dropout(call.get(), &plain, out), "dropout");
}

bool residual_norm_serves(std::int64_t replicas, std::int64_t width, bool has_dropout) {
  return kernels().residual_norm_serves(replicas, width, has_dropout) == kCudaDone;
}

void residual_norm_forward(const ResidualNormInputs& in, const ExampleView<float>& out,
                           const ExampleView<float>& moments) {
  const Call call;
  const CudaResidualNormInputs plain = plain_inputs(in);
  check(kernels().residual_norm_forward(call.get(), &plain, &out, &moments), "residual norm");
}

void residual_norm_backward(const ResidualNormInputs& in, const ExampleView<const float>& moments,
                            const ExampleView<const float>& d_out, const ResidualNormGradients& out) {
  const CudaResidualNormInputs plain = plain_inputs(in);
  const CudaResidualNormGradients gradients{out.d_x, out.d_y, out.d_y_bias, out.d_scale, out.d_offset};
  const Call call(kernels().residual_norm_backward_workspace(&plain));
  check(kernels().residual_norm_backward(call.get(), &plain, &moments, &d_out, &gradients),
        "residual norm's gradient");
}

void adam_norms(std::int64_t replicas, std::int64_t size, const float* gradients, float* norms) {
  const Call call(kernels().adam_norms_workspace(replicas, size));
  check(kernels().adam_norms(call.get(), replicas, size, gradients, norms), "gradient norms");
}

void adam_update(const AdamOperands& operands, const AdamSettings& settings) {
  const Call call;
  check(kernels().adam_update(call.get(), &operands, &settings), "Adam");
}

void rotate(const RotationInputs& in, float* out) {
  const Call call;
  check(kernels().rotate(call.get(), &in, out), "rotation");
}

void bias_relu_forward(const HiddenRows& values, const float* bias) {
  const Call call;
  check(kernels().bias_relu_forward(call.get(), &values, bias), "bias and ReLU");
}

void bias_relu_backward(const HiddenRows& gradient, const HiddenRows& activation, float* d_bias) {
  const Call call;
  check(kernels().bias_relu_backward(call.get(), &gradient, &activation, d_bias), "bias and ReLU's gradient");
}

bool embedding_serves(std::int64_t replicas, std::int64_t symbols) {
  return kernels().embedding_serves(replicas, symbols) == kCudaDone;
}

void embedding_forward(const EmbeddingInputs& in, const float* table, float* out) {
  const Call call;
  check(kernels().embedding_forward(call.get(), &in, table, out), "embedding");
}

void embedding_backward(const EmbeddingInputs& in, const float* d_out, float* d_table) {
  const Call call(kernels().embedding_backward_workspace(&in));
  check(kernels().embedding_backward(call.get(), &in, d_out, d_table), "embedding's gradient");
}

bool batch_score_serves(std::int64_t replicas) { return kernels().batch_score_serves(replicas) == kCudaDone; }

void batch_score_forward(const BatchScoreInputs& in, float* losses, std::int64_t* correct) {
  const Call call(kernels().batch_score_workspace(&in));
  check(kernels().batch_score_forward(call.get(), &in, losses, correct), "loss");
}

void batch_score_backward(const BatchScoreInputs& in, const float* d_losses, float* d_logits) {
  const Call call;
  check(kernels().batch_score_backward(call.get(), &in, d_losses, d_logits), "loss's gradient");
}

}  // namespace

void use_cuda_kernels(const c10::Device& device, const CudaKernels& chosen) {
  library = Library{.device = device,
                    .kernels = &chosen,
                    .table = {.attention = {.serves = attention_serves,
                                            .query_block = kQueryBlock,
                                            .saved_values = attention_saved_values,
                                            .forward = attention_forward,
                                            .backward = attention_backward},
                              .bias_relu = {.block_rows = chosen.bias_relu_block_rows,
                                            .partial_sums = chosen.bias_relu_partial_sums,
                                            .forward = bias_relu_forward,
                                            .backward = bias_relu_backward},
                              .dropout = {.serves = dropout_serves, .apply = dropout},
                              .residual_norm = {.serves = residual_norm_serves,
                                                .forward = residual_norm_forward,
                                                .backward = residual_norm_backward},
                              .rotation = {.rotate = rotate},
                              .adam = {.norms = adam_norms, .update = adam_update},
                              .embedding = {.serves = embedding_serves,
                                            .forward = embedding_forward,
                                            .backward = embedding_backward},
                              .batch_score = {.serves = batch_score_serves,
                                              .forward = batch_score_forward,
                                              .backward = batch_score_backward}}};
}

const KernelTable* cuda_kernels(c10::DeviceType device) {
  return library && library->device.type() == device ? &library->table : nullptr;
}

void set_cuda_step(const CudaStep* step) {
  if (library) library->step = step;
}

void set_cuda_precision(CudaPrecision precision) {
  if (library) library->precision = precision;
  at::globalContext().setAllowTF32CuBLAS(precision == CudaPrecision::kTf32);
}

}  // namespace che
