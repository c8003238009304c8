// A training step and an evaluation of every encoding on a device that is not the CPU: the same values, no
// mixture of devices, and how often the host waits.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "experiments/training/model_factory.h"
#include "experiments/training/tensor_batch.h"
#include "experiments/training/training.h"
#include "models/loss.h"
#include "tests/gpu/fake_device.h"
#include "tests/models/encodings/encoding_models.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

constexpr std::int64_t kLength = 6;
constexpr std::int64_t kBatch = 3;

Backend reference_on(const at::Device& device) {
  return {Kernels::kReference, at::TensorOptions().dtype(at::kFloat).device(device)};
}

// Two replicas in training on a device.
class Trainee {
 public:
  Trainee(const RunConfig& config, const at::Device& device)
      : config_(config),
        model_(config.model, vocabulary_of(config.task),
               create_encoding(config.encoding, {.count = config.longest_training_sequence()}), 2,
               reference_on(device)),
        adam_(model_.parameters(), {1e-2, 1e-3}, 1, model_.backend()) {
    model_.parameters().initialise(std::vector<std::int64_t>{1, 2});
  }

  StepResult step(std::int64_t step) {
    const auto positions =
        create_positions(config_, 5, Purpose::kPositions, static_cast<std::uint64_t>(step));
    const Dropout dropout{
        .rate = 0.1, .seeds = {1, 2}, .purpose = Purpose::kDropout, .step = static_cast<std::uint64_t>(step)};
    return training_step(model_, adam_, batch(), *positions, dropout, step, 1);
  }

  at::Tensor logits() const {
    const c10::NoGradGuard no_grad;
    const auto positions = create_positions(config_, 5, Purpose::kEvaluationPositions, kLength);
    const TensorBatch tensors = batch();
    return model_.forward(tensors.tokens, tensors.outputs(), *positions, Dropout{}).to(at::kCPU);
  }

  void take_values(const Trainee& other) {
    const c10::NoGradGuard no_grad;
    model_.parameters().values().copy_(other.values());
  }

  void update_with(const at::Tensor& gradients, std::int64_t step) {
    const c10::NoGradGuard no_grad;
    model_.parameters().gradients().copy_(gradients);
    adam_.update(model_.parameters(), step, 1);
  }

  at::Tensor gradients() const { return model_.parameters().gradients().to(at::kCPU); }
  at::Tensor values() const { return model_.parameters().values().detach().to(at::kCPU); }
  const Transformer& model() const { return model_; }

 private:
  TensorBatch batch() const {
    const auto task = create_task(config_.task);
    Batch samples;
    sample_batch(*task, evaluation_key(3, kLength, 0), kLength, kBatch, samples);
    return to_tensors(samples, 0, kBatch, model_.vocabulary().empty_symbol(), model_.backend().device());
  }

  RunConfig config_;
  Transformer model_;
  Adam adam_;
};

class EveryEncodingOnADevice : public testing::TestWithParam<std::string> {};

// Gradients are compared before an update, at equal parameters: where a gradient is zero but for rounding,
// Adam makes a whole step of it.
TEST_P(EveryEncodingOnADevice, TrainsAndEvaluatesToTheValuesOfTheCpu) {
  const RunConfig config = small_config(GetParam());
  Trainee on_cpu(config, at::kCPU);
  Trainee on_device(config, fake_device());
  for (std::int64_t step = 0; step < 3; ++step) {
    on_device.take_values(on_cpu);
    const StepResult expected = on_cpu.step(step);
    const StepResult found = on_device.step(step);
    for (std::size_t r = 0; r < 2; ++r) {
      EXPECT_NEAR(expected.loss[r], found.loss[r], 1e-5);
      EXPECT_NEAR(expected.gradient_norm[r], found.gradient_norm[r], 1e-4);
      EXPECT_EQ(expected.accuracy[r], found.accuracy[r]);
    }
    EXPECT_EQ("", difference(on_device.gradients(), on_cpu.gradients(), 1e-5)) << "step " << step;
  }
  on_device.take_values(on_cpu);
  EXPECT_EQ("", difference(on_device.logits(), on_cpu.logits(), 1e-5));
}

TEST(AdamOnADevice, UpdatesAsOnTheCpu) {
  const RunConfig config = small_config("alibi");
  Trainee on_cpu(config, at::kCPU);
  Trainee on_device(config, fake_device());
  for (std::int64_t step = 0; step < 3; ++step) {
    on_cpu.step(step);
    on_device.update_with(on_cpu.gradients(), step);
  }
  EXPECT_EQ("", difference(on_device.values(), on_cpu.values(), 1e-6));
}

// What a step costs on a device beside its work: launches, and copies for which a GPU or its host waits.
struct StepBounds {
  std::int64_t operations;
  std::int64_t to_device;
};

StepBounds bounds_of(const RunConfig& config) {
  // Of two layers; measured, and none to spare.
  std::map<std::string, StepBounds> bounds{
      {"none", {235, 7}},     {"sin_cos", {238, 9}},  {"learned", {243, 9}}, {"rope", {307, 23}},
      {"t5", {269, 11}},      {"alibi", {253, 11}},   {"kerple", {283, 9}},  {"fire", {369, 11}},
      {"relative", {295, 9}}, {"sandwich", {769, 9}}, {"cope", {397, 7}}};
  const auto found = bounds.find(config.encoding.name);
  StepBounds bound = found == bounds.end() ? StepBounds{400, 11} : found->second;
  if (config.encoding.dape) bound.operations += config.encoding.dape->taps() == 3 ? 234 : 62;
  return bound;
}

TEST_P(EveryEncodingOnADevice, KeepsTheHostWaitingOnceAStep) {
  const RunConfig config = small_config(GetParam());
  Trainee trainee(config, fake_device());
  trainee.step(0);
  reset_device_counts();
  trainee.step(1);
  const DeviceCounts counts = device_counts();
  EXPECT_EQ(counts.to_host, 1) << "losses, accuracies and norms of all replicas";
  EXPECT_EQ(counts.scalars, 0);
  const StepBounds bound = bounds_of(config);
  EXPECT_LE(counts.operations, bound.operations);
  EXPECT_LE(counts.to_device, bound.to_device);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryEncodingOnADevice, testing::ValuesIn(all_labels()),
                         [](const auto& label) { return label.param; });

TEST(FakeDevice, RefusesTensorsOfTwoDevices) {
  const at::Tensor here = at::ones({2});
  const at::Tensor there = at::ones({2}, at::TensorOptions().device(fake_device()));
  EXPECT_THROW(here + there, c10::Error);
  EXPECT_THROW(at::cat({there, here}), c10::Error);
  EXPECT_NO_THROW(there + at::scalar_tensor(1));
}

TEST(FakeDevice, CountsCopiesAndValuesThatTheHostReads) {
  reset_device_counts();
  const at::Tensor there = at::ones({2}).to(fake_device());
  EXPECT_EQ(device_counts().to_device, 1);
  EXPECT_EQ(there.sum().item<float>(), 2);
  EXPECT_EQ(device_counts().scalars, 1);
  EXPECT_EQ(there.to(at::kCPU).sum().item<float>(), 2);
  EXPECT_EQ(device_counts().to_host, 1);
  EXPECT_GT(device_counts().operations, 0);
}

}  // namespace
}  // namespace che
