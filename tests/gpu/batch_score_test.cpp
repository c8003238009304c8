// The kernels of loss and accuracy on the emulated GPU against plain loops in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"
#include "models/ops/device/kernel_table.h"
#include "tests/gpu/kernel_rig.h"

namespace che {
namespace {

constexpr double kBound = 1e-6;  // Of the largest value, or of 1.

struct Shape {
  std::int64_t replicas, rows, classes;
};

// One block of rows and several, whole and not, and more blocks than a block has threads.
constexpr Shape kShapes[] = {{1, 1, 1}, {3, 70, 2}, {2, 1024, 3}, {2, 2500, 11}, {1, 263'000, 2}};

struct Batch {
  explicit Batch(const Shape& wanted)
      : shape(wanted), logits(some_values(shape.replicas * shape.rows * shape.classes, 1, 3)) {
    RandomStream random(5, Purpose::kData);
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      targets.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.classes))));
      mask.push_back(static_cast<std::uint8_t>(row % 3 != 1));
    }
  }

  BatchScoreInputs inputs() const {
    return {.replicas = shape.replicas,
            .rows = shape.rows,
            .classes = shape.classes,
            .logits = logits.data(),
            .targets = targets.data(),
            .mask = mask.data()};
  }

  Shape shape;
  std::vector<float> logits;
  std::vector<std::int64_t> targets;
  std::vector<std::uint8_t> mask;
};

struct Score {
  std::vector<float> losses;
  std::vector<float> correct;
  std::vector<float> d_logits;
};

// With the gradients of the losses.
Score expected_of(const Batch& batch, const std::vector<float>& d_losses) {
  const auto& [replicas, rows, classes] = batch.shape;
  Score score;
  for (std::int64_t r = 0; r < replicas; ++r) {
    double loss = 0;
    float correct = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* const logits = batch.logits.data() + (r * rows + row) * classes;
      const std::int64_t target = batch.targets[static_cast<std::size_t>(row)];
      const float largest = *std::max_element(logits, logits + classes);
      double sum = 0;
      for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(logits[c]) - largest);
      loss += std::log(sum) - (static_cast<double>(logits[target]) - largest);
      // max_element returns the first of several.
      const bool is_right = std::max_element(logits, logits + classes) == logits + target;
      if (is_right && batch.mask[static_cast<std::size_t>(row)] != 0) ++correct;
      for (std::int64_t c = 0; c < classes; ++c) {
        const double share = std::exp(static_cast<double>(logits[c]) - largest) / sum;
        score.d_logits.push_back(
            static_cast<float>((share - (c == target ? 1 : 0)) * d_losses[static_cast<std::size_t>(r)] /
                               static_cast<double>(rows)));
      }
    }
    score.losses.push_back(static_cast<float>(loss / static_cast<double>(rows)));
    score.correct.push_back(correct);
  }
  return score;
}

// Losses, and how many are correct.
Results scored(const Batch& batch) {
  const BatchScoreInputs in = batch.inputs();
  const std::int64_t replicas = batch.shape.replicas;
  return in_every_schedule({{"losses", unwritten(replicas)}, {"correct", unwritten(replicas)}},
                           [&](const KernelCall& call, Results& results) {
                             std::vector<std::int64_t> correct(static_cast<std::size_t>(replicas), -1);
                             const int answer = cuda_kernels().batch_score.forward(
                                 call, in, results[0].values.data(), correct.data());
                             results[1].values.assign(correct.begin(), correct.end());
                             return answer;
                           });
}

TEST(BatchScoreKernel, MeasuresLossAndAccuracy) {
  for (const Shape& shape : kShapes) {
    Batch batch(shape);
    // Equal logits: the first one counts.
    for (std::int64_t c = 0; c < shape.classes; ++c) batch.logits[static_cast<std::size_t>(c)] = 2;
    const Score expected =
        expected_of(batch, std::vector<float>(static_cast<std::size_t>(shape.replicas), 1));
    const Results got = scored(batch);
    expect_near({{"losses", expected.losses}}, {got[0]}, kBound);
    EXPECT_EQ(expected.correct, got[1].values);
  }
}

TEST(BatchScoreKernel, HasTheGradient) {
  for (const Shape& shape : kShapes) {
    const Batch batch(shape);
    const BatchScoreInputs in = batch.inputs();
    // Of about the size of a logit's gradient before it is divided by the rows.
    std::vector<float> d_losses = some_values(shape.replicas, 2, static_cast<float>(shape.rows));
    const auto size = static_cast<std::int64_t>(batch.logits.size());
    const Results got =
        in_every_schedule({{"d_logits", unwritten(size)}}, [&](const KernelCall& call, Results& results) {
          return cuda_kernels().batch_score.backward(call, in, d_losses.data(), results[0].values.data());
        });
    expect_near({{"d_logits", expected_of(batch, d_losses).d_logits}}, got, kBound);
  }
}

// A model that diverges must not look like one that is right.
TEST(BatchScoreKernel, ALossOfNoNumberIsNone) {
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Batch batch({2, 70, 3});
    batch.logits[4] = value;
    const Results got = scored(batch);
    EXPECT_TRUE(std::isnan(got[0].values[0]));
    EXPECT_TRUE(std::isfinite(got[0].values[1]));
  }
}

// As at::argmax has it, which the CPU's composition calls.
TEST(BatchScoreKernel, NoNumberIsTheLargest) {
  Batch batch({1, 1, 4});
  batch.mask = {1};
  batch.logits = {5, NAN, 7, NAN};
  for (std::int64_t target = 0; target < 4; ++target) {
    batch.targets = {target};
    EXPECT_EQ(target == 1 ? 1 : 0, scored(batch)[1].values[0]) << target;
  }
}

TEST(BatchScoreKernel, WithoutRowsALossIsNoNumber) {
  const Batch batch({2, 0, 3});
  const Results got = scored(batch);
  EXPECT_TRUE(std::isnan(got[0].values[1]));
  EXPECT_EQ(0, got[1].values[1]);
}

TEST(BatchScoreKernel, ServesWhatAGridHasRoomFor) {
  EXPECT_TRUE(cuda_kernels().batch_score.serves(65535));
  EXPECT_FALSE(cuda_kernels().batch_score.serves(65536));
}

}  // namespace
}  // namespace che
