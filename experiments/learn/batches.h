#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <semaphore>
#include <thread>

#include "models/architectures/model.h"
#include "models/ops/batch_score/batch_score.h"
#include "workloads/workload.h"

namespace che {

// A batch as the model reads it.
struct TensorBatch {
  at::Tensor tokens;   // (batch, tokens) of type long
  at::Tensor targets;  // (batch, outputs) of type long
  at::Tensor mask;     // (batch, outputs), uint8

  std::int64_t outputs() const { return targets.size(1); }
};

// Rows first .. first + count - 1 of `batch` in one tensor of the host, (count, tokens + 2 outputs) of type
// int: tokens, targets, mask.
at::Tensor packed(const SequenceBatch& batch, std::int64_t first, std::int64_t count);

// Takes such a tensor apart, on its device.
TensorBatch unpacked(const at::Tensor& values, std::int64_t outputs);

// Brings these rows to `device` in one copy.
TensorBatch to_tensors(const SequenceBatch& batch, std::int64_t first, std::int64_t count,
                       const at::Device& device);

// Holds a model's score on a batch, and on request its predictions.
struct BatchResult {
  BatchScore score;
  at::Tensor counted;  // Symbols that count for accuracy, a double.
  // Every output has a value, (replicas, batch, outputs), where Wanted asks for them: the class that the
  // score counts as predicted, of type long, and the cross entropy in nats.
  at::Tensor classes = {};
  at::Tensor losses = {};
};
struct Wanted {
  bool classes = false;
  bool losses = false;
};

// The most logits that are in memory at once. A batch with more is scored in parts of the outputs of all its
// examples, one after the other.
inline constexpr std::int64_t kMostLogits = std::int64_t{1} << 24;

// Scores the predictions for a batch, without gradients.
BatchResult predict(const Model& model, const TensorBatch& batch, const Pass& pass, Wanted wanted = {},
                    std::int64_t most_logits = kMostLogits);

// Predicts rows first .. first + count - 1 of a batch. pass.dropout.first_example is the number of the
// batch's first row.
BatchResult predict_rows(const Model& model, const SequenceBatch& batch, std::int64_t first,
                         std::int64_t count, Pass pass, Wanted wanted = {});

// Adds the gradients of each replica's loss on the batch to its parameters' grad(). The examples go forward
// and backward by `micro_batch`, or all together where it is 0. Neither this nor `most_logits` changes more
// than rounding, because an example's dropout goes by its number in the batch.
BatchResult add_gradients(const Model& model, const TensorBatch& batch, const Pass& pass,
                          std::int64_t micro_batch = 0, std::int64_t most_logits = kMostLogits);

// The training batches of a workload, step after step. A thread samples the next one while the caller works
// on the current one. It lives as long as the stream, because starting a thread takes time and can fail.
class BatchStream {
 public:
  // `workload` outlives the stream.
  BatchStream(const Workload& workload, std::int64_t first_step);
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  // The batch of the next step, which stays valid until the next call. Throws what sampling threw, and does
  // so at every call from then on.
  const SequenceBatch& next();

 private:
  void sample_batches(const std::stop_token& stop, std::int64_t step);

  const Workload& workload_;
  SequenceBatch current_;
  SequenceBatch upcoming_;
  std::exception_ptr failure_;
  // They hand `upcoming_` and `failure_` to the thread, and back. The destructor releases the first a second
  // time.
  std::counting_semaphore<2> is_wanted_{1};
  std::counting_semaphore<2> is_sampled_{0};
  std::jthread sampler_;
};

}  // namespace che
