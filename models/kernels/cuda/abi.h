#pragma once

#include <cstdint>

#include "models/kernels/forms/adam_form.h"
#include "models/kernels/forms/attention_form.h"
#include "models/kernels/forms/batch_score_form.h"
#include "models/kernels/forms/bias_relu_form.h"
#include "models/kernels/forms/dropout_bits.h"
#include "models/kernels/forms/embedding_form.h"
#include "models/kernels/forms/rotation_form.h"
#include "models/kernels/forms/views.h"

namespace che {

// Changes with everything in this header and in the headers that it includes.
constexpr std::int32_t kCudaAbiVersion = 4;

// What a kernel's function answers; a positive number is an error of CUDA.
constexpr int kCudaDone = 0;
constexpr int kCudaNotServed = -1;  // This shape, or on this device; nothing was done.

enum class CudaPrecision : std::int32_t {
  kFp32 = 0,
  kTf32 = 1,  // f's products on tensor cores, forward; 10 bits of mantissa in their operands.
};

// What changes from one training step to the next; step_values.h computes it.
struct CudaStep {
  std::uint32_t dropout;  // DropoutBits::counter[1], the number of the step.
  float second_scale;     // Of Adam: 1 / (1 - beta2^n) for update number n, and
  double rate_scale;      // the rates' fraction / (1 - beta1^n).
};

// With every call. All pointers of all operands are memory of the stream's device, which is the current one.
// Those of q, k, v, d_out, what attention keeps, and the workspace are aligned to 16 bytes. Calls only
// enqueue work: they neither wait, nor copy, nor allocate.
struct CudaCall {
  void* stream;      // A cudaStream_t.
  float* workspace;  // As many floats as the operation's *_workspace says; free when the call's work is done.
  CudaPrecision precision;
  // Memory of the device that is read when the work is done, in place of what the operands say; null: they
  // count.
  const CudaStep* step = nullptr;
};

// The dropout of one call: each replica's Philox key, and what its examples' counters share.
constexpr std::int64_t kMaxDropoutReplicas = 64;
struct CudaDropout {
  std::uint32_t keys[kMaxDropoutReplicas][2];
  DropoutBits first;  // Of row 0 of any replica, its key unused; row b has counter[0] + b.
};

// DropoutInputs of models/kernels/forms/dropout_form.h in plain memory; plain_inputs.h makes it.
struct CudaDropoutInputs {
  std::int64_t replicas;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t width;
  const float* values;       // (replicas, batch, rows, width), contiguous
  std::int64_t first_token;  // Of the rows, within their sequences: dropout counts from token 0.
  CudaDropout dropout;
};

// ResidualNormInputs of models/kernels/forms/residual_norm_form.h in plain memory; plain_inputs.h makes it.
struct CudaResidualNormInputs {
  std::int64_t replicas;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t width;
  ExampleView<const float> x;  // (rows, width) per example
  ExampleView<const float> y;  // likewise
  const float* y_bias;         // (replicas, width), or null
  const float* scale;          // (replicas, width)
  const float* offset;         // (replicas, width)
  std::int64_t first_token;    // Of the rows, within their sequences: dropout counts from token 0.
  float epsilon;
  CudaDropout dropout;
};

// Like ResidualNormGradients of models/kernels/forms/residual_norm_form.h.
struct CudaResidualNormGradients {
  ExampleView<float> d_x;
  ExampleView<float> d_y;
  float* d_y_bias;
  float* d_scale;
  float* d_offset;
};

// A CUDA device, as its driver describes it.
struct CudaDevice {
  char name[256];                   // Ends with a 0.
  std::int32_t compute_capability;  // 10 times the major number, and the minor one.
  std::int32_t multiprocessors;
  std::int32_t driver_version;   // Of CUDA that the driver serves; 1000 times the major number, 10 the minor.
  std::int32_t runtime_version;  // That the library was linked to.
  std::int64_t memory_bytes;
  std::int64_t shared_bytes;  // That a block may have.
  double memory_rate;         // Bytes a second between device and its memory, nominal; 0 for unknown.
  double multiply_add_rate;   // Single-precision operations a second without tensor cores, nominal, a
                              // multiplication and an addition counted as two; 0 for unknown.
};

// The operations of forms/kernel_table.h on CUDA devices: the forms' whole-batch signatures with a CudaCall
// in front. Results do not depend on the device's number of processors, nor do they change from call to call.
//
// Served: attention with head widths of 4, 8, ... 64, at most 16 heads and heads * head_width <= 512, f of
// any width that shared memory has room for, at most 65535 examples and replicas, sequences of up to 2^24
// tokens; residual norms of at most 2048 features; dropout, alone or within a residual norm, of at most 64
// replicas, alone of at most 65535 examples; bias and ReLU of at most 65535 * 256 features; embeddings of as
// many symbols as shared memory has room for; of these and the others at most 65535 replicas.
struct CudaKernels {
  std::int32_t version;  // kCudaAbiVersion of the library's source.

  // Answers kCudaDone, or CUDA's error: there is no driver, or no device of that number.
  int (*describe_device)(std::int32_t number, CudaDevice* device);
  const char* (*error_text)(int error);  // Of CUDA's errors.

  // Whether the following three serve the shape on the current device, and with `has_gradients` the backward
  // pass too: kCudaDone or kCudaNotServed.
  int (*attention_serves)(const AttentionShape* shape, bool has_gradients);
  std::int64_t (*attention_saved_values)(const AttentionShape* shape);
  int (*attention_forward)(const CudaCall* call, const AttentionInputs* in, const ExampleView<float>* out,
                           float* saved);
  std::int64_t (*attention_backward_workspace)(const AttentionInputs* in, const AttentionGradients* out);
  int (*attention_backward)(const CudaCall* call, const AttentionInputs* in, const float* saved,
                            const ExampleView<const float>* d_out, const AttentionGradients* out);

  int (*dropout_serves)(std::int64_t replicas, std::int64_t batch);
  int (*dropout)(const CudaCall* call, const CudaDropoutInputs* in, float* out);

  int (*residual_norm_serves)(std::int64_t replicas, std::int64_t width, bool has_dropout);
  int (*residual_norm_forward)(const CudaCall* call, const CudaResidualNormInputs* in,
                               const ExampleView<float>* out, const ExampleView<float>* moments);
  std::int64_t (*residual_norm_backward_workspace)(const CudaResidualNormInputs* in);
  int (*residual_norm_backward)(const CudaCall* call, const CudaResidualNormInputs* in,
                                const ExampleView<const float>* moments,
                                const ExampleView<const float>* d_out, const CudaResidualNormGradients* out);

  std::int64_t (*adam_norms_workspace)(std::int64_t replicas, std::int64_t size);
  int (*adam_norms)(const CudaCall* call, std::int64_t replicas, std::int64_t size, const float* gradients,
                    float* norms);
  int (*adam_update)(const CudaCall* call, const AdamOperands* operands, const AdamSettings* settings);

  int (*rotate)(const CudaCall* call, const RotationInputs* in, float* out);

  std::int64_t bias_relu_block_rows;
  std::int64_t bias_relu_partial_sums;
  int (*bias_relu_forward)(const CudaCall* call, const HiddenRows* values, const float* bias);
  int (*bias_relu_backward)(const CudaCall* call, const HiddenRows* gradient, const HiddenRows* activation,
                            float* d_bias);

  int (*embedding_serves)(std::int64_t replicas, std::int64_t symbols);
  int (*embedding_forward)(const CudaCall* call, const EmbeddingInputs* in, const float* table, float* out);
  std::int64_t (*embedding_backward_workspace)(const EmbeddingInputs* in);
  int (*embedding_backward)(const CudaCall* call, const EmbeddingInputs* in, const float* d_out,
                            float* d_table);

  int (*batch_score_serves)(std::int64_t replicas);
  std::int64_t (*batch_score_workspace)(const BatchScoreInputs* in);  // Of the forward pass.
  int (*batch_score_forward)(const CudaCall* call, const BatchScoreInputs* in, float* losses,
                             std::int64_t* correct);
  int (*batch_score_backward)(const CudaCall* call, const BatchScoreInputs* in, const float* d_losses,
                              float* d_logits);
};

// The library's one symbol; null where `version` is not its own.
extern "C" __attribute__((visibility("default"))) const CudaKernels* che_cuda_kernels(std::int32_t version);

}  // namespace che
