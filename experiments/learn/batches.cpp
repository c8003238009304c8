#include "experiments/learn/batches.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/ops/device/step_uploads.h"

namespace che {
namespace {

constexpr at::ScalarType kPacked = at::kInt;

// Rows of `values` without a copy.
template <class T>
at::Tensor rows_of(const std::vector<T>& values, std::int64_t width, std::int64_t first, std::int64_t count) {
  // from_blob does not write; it only lacks a const form.
  return at::from_blob(const_cast<T*>(values.data()) + first * width, {count, width},
                       at::TensorOptions().dtype(c10::CppTypeToScalarType<T>::value));
}

// Outputs of a batch whose logits are in memory at once.
struct HeadPart {
  at::Tensor features;  // (replicas, examples, outputs, features)
  at::Tensor targets;   // (examples, outputs)
  at::Tensor mask;      // (examples, outputs)
  double share;         // The share of the batch's outputs that the part has.
};

// One part with the batch as it is, if its logits are no more than `most_logits`. Otherwise a part has one
// example, whose outputs are some of those of all examples in one line.
std::vector<HeadPart> head_parts(const at::Tensor& features, const TensorBatch& batch, std::int64_t classes,
                                 std::int64_t most_logits) {
  const std::int64_t outputs = batch.targets.numel();
  const std::int64_t most = most_logits / (features.size(0) * classes);
  if (outputs <= most) return {{features, batch.targets, batch.mask, 1}};
  const at::Tensor line = features.flatten(1, 2).unsqueeze(1);
  const at::Tensor targets = batch.targets.flatten().unsqueeze(0);
  const at::Tensor mask = batch.mask.flatten().unsqueeze(0);
  const std::int64_t count = std::max<std::int64_t>(most, 1);
  std::vector<HeadPart> parts;
  for (std::int64_t first = 0; first < outputs; first += count) {
    const std::int64_t end = std::min(first + count, outputs);
    parts.push_back({line.slice(2, first, end), targets.slice(1, first, end), mask.slice(1, first, end),
                     static_cast<double>(end - first) / static_cast<double>(outputs)});
  }
  return parts;
}

// The score of a batch from those of its parts.
class ScoreSum {
 public:
  explicit ScoreSum(const TensorBatch& batch) : counted_(batch.mask.sum(at::kDouble)) {}

  // `share` of the batch's outputs are those of the part.
  void add(const BatchScore& part, double share) {
    const at::Tensor loss = part.loss.detach();
    if (!sum_.loss.defined()) {
      sum_ = {share == 1 ? loss : loss * share, part.correct};
    } else {
      sum_ = {sum_.loss + loss * share, sum_.correct + part.correct};
    }
  }

  BatchResult result() const { return {.score = sum_, .counted = counted_}; }

 private:
  at::Tensor counted_;
  BatchScore sum_;
};

// Adds the gradients of a part, which has `share` of the outputs of the batch.
void backward_score(const Model& model, const HeadPart& part, double share, ScoreSum& sum) {
  const BatchScore score = score_batch(model.head(part.features), part.targets, part.mask, model.backend());
  // A replica's loss reaches its own parameters only, so that the sum gives each its own gradient.
  const at::Tensor loss = score.loss.sum();
  (share == 1 ? loss : loss * share).backward();
  sum.add(score, share);
}

}  // namespace

at::Tensor packed(const SequenceBatch& batch, std::int64_t first, std::int64_t count) {
  return at::cat(
      {rows_of(batch.tokens, batch.width, first, count), rows_of(batch.targets, batch.outputs, first, count),
       rows_of(batch.mask, batch.outputs, first, count).to(kPacked)},
      1);
}

TensorBatch unpacked(const at::Tensor& values, std::int64_t outputs) {
  const std::int64_t tokens = values.size(1) - 2 * outputs;
  return {values.slice(1, 0, tokens).to(at::kLong), values.slice(1, tokens, tokens + outputs).to(at::kLong),
          values.slice(1, tokens + outputs).to(at::kByte).contiguous()};
}

TensorBatch to_tensors(const SequenceBatch& batch, std::int64_t first, std::int64_t count,
                       const at::Device& device) {
  RECORD_FUNCTION("che::batch", {});
  return unpacked(upload(packed(batch, first, count), at::TensorOptions().dtype(kPacked).device(device)),
                  batch.outputs);
}

BatchResult predict(const Model& model, const TensorBatch& batch, const Pass& pass, Wanted wanted,
                    std::int64_t most_logits) {
  const c10::NoGradGuard no_grad;
  const at::Tensor features = model.features(batch.tokens, batch.outputs(), pass);
  ScoreSum sum(batch);
  std::vector<at::Tensor> classes;  // Each part has (replicas, outputs).
  std::vector<at::Tensor> losses;
  for (const HeadPart& part : head_parts(features, batch, model.classes(), most_logits)) {
    const at::Tensor logits = model.head(part.features);
    at::Tensor predicted;  // (replicas, examples, outputs)
    if (wanted.classes || wanted.losses) predicted = logits.argmax(-1);
    if (wanted.classes) classes.push_back(predicted.flatten(1));
    if (!wanted.losses) {
      sum.add(score_batch(logits, part.targets, part.mask, model.backend()), part.share);
      continue;
    }
    const at::Tensor is_correct = predicted.eq(part.targets).logical_and(part.mask);
    losses.push_back(output_losses(logits, part.targets).flatten(1));
    sum.add({losses.back().mean(1), is_correct.flatten(1).sum(1)}, part.share);
  }
  BatchResult result = sum.result();
  const std::vector<std::int64_t> shape{features.size(0), batch.targets.size(0), batch.outputs()};
  if (wanted.classes) result.classes = at::cat(classes, 1).view(shape);
  if (wanted.losses) result.losses = at::cat(losses, 1).view(shape);
  return result;
}

BatchResult predict_rows(const Model& model, const SequenceBatch& batch, std::int64_t first,
                         std::int64_t count, Pass pass, Wanted wanted) {
  pass.dropout.first_example += static_cast<std::uint64_t>(first);
  return predict(model, to_tensors(batch, first, count, model.backend().device()), pass, wanted);
}

BatchResult add_gradients(const Model& model, const TensorBatch& batch, const Pass& pass,
                          std::int64_t micro_batch, std::int64_t most_logits) {
  const std::int64_t examples = batch.targets.size(0);
  const std::int64_t count = micro_batch == 0 ? examples : micro_batch;
  ScoreSum sum(batch);
  for (std::int64_t first = 0; first < examples; first += count) {
    const std::int64_t end = std::min(first + count, examples);
    const TensorBatch rows{batch.tokens.slice(0, first, end), batch.targets.slice(0, first, end),
                           batch.mask.slice(0, first, end)};
    Pass shifted = pass;
    shifted.dropout.first_example += static_cast<std::uint64_t>(first);
    const Pass& of_rows = first == 0 ? pass : shifted;  // Graphs read the dropout of `pass` at each replay.
    const at::Tensor features = model.features(rows.tokens, rows.outputs(), of_rows);
    const double share = static_cast<double>(end - first) / static_cast<double>(examples);
    const std::vector<HeadPart> parts = head_parts(features, rows, model.classes(), most_logits);
    if (parts.size() == 1) {
      backward_score(model, parts.front(), share, sum);
      continue;
    }
    // The head's gradients are complete after each part, whose logits are given up; those of its features go
    // through the other layers together.
    std::vector<at::Tensor> gradients;
    for (HeadPart part : parts) {
      part.features = part.features.detach().requires_grad_(true);
      backward_score(model, part, share * part.share, sum);
      gradients.push_back(part.features.grad());
    }
    features.flatten(1, 2).unsqueeze(1).backward(at::cat(gradients, 2));
  }
  return sum.result();
}

BatchStream::BatchStream(const Workload& workload, std::int64_t first_step)
    : workload_(workload),
      sampler_([this, first_step](const std::stop_token& stop) { sample_batches(stop, first_step); }) {}

BatchStream::~BatchStream() {
  sampler_.request_stop();
  is_wanted_.release();
}

const SequenceBatch& BatchStream::next() {
  is_sampled_.acquire();
  if (failure_) {
    is_sampled_.release();
    std::rethrow_exception(failure_);
  }
  std::swap(current_, upcoming_);
  is_wanted_.release();
  return current_;
}

void BatchStream::sample_batches(const std::stop_token& stop, std::int64_t step) {
  for (is_wanted_.acquire(); !stop.stop_requested(); is_wanted_.acquire()) {
    try {
      workload_.training_batch(step++, upcoming_);
    } catch (...) {
      failure_ = std::current_exception();
    }
    is_sampled_.release();
  }
}

}  // namespace che
