#include "experiments/learn/batches.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

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

Prediction predict(const Model& model, const TensorBatch& batch, const Pass& pass) {
  const at::Tensor logits = model.forward(batch.tokens, batch.outputs(), pass);
  return {logits, score_batch(logits, batch.targets, batch.mask, model.backend()),
          batch.mask.sum(at::kDouble)};
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
