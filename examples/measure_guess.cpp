// Measures a predictor of your own on the test samples of a task: this one answers every output position with
// the sample's most frequent input symbol. The program links che's tasks and needs no LibTorch.
//   build/measure_guess reverse_string 41 100
// prints the length and the accuracy, 0 to 1, of 512 samples at each of these lengths.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "tasks/task.h"

namespace {

std::uint8_t most_frequent(std::span<const std::uint8_t> input) {
  std::array<int, 256> counts{};
  for (const std::uint8_t symbol : input) ++counts[symbol];
  return static_cast<std::uint8_t>(std::ranges::max_element(counts) - counts.begin());
}

// The fraction of the output symbols that count and are the predicted one, over one batch, as `che` measures
// it.
double accuracy(const che::Batch& batch) {
  std::int64_t counted = 0;
  std::int64_t correct = 0;
  for (std::int64_t row = 0; row < batch.size; ++row) {
    const std::span input(&batch.input[static_cast<std::size_t>(row * batch.input_length)],
                          static_cast<std::size_t>(batch.input_length));
    const std::uint8_t guess = most_frequent(input);
    for (std::int64_t i = 0; i < batch.output_length; ++i) {
      const auto at = static_cast<std::size_t>(row * batch.output_length + i);
      counted += batch.mask[at];
      correct += batch.mask[at] != 0 && batch.output[at] == guess ? 1 : 0;
    }
  }
  return static_cast<double>(correct) / static_cast<double>(counted);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::int64_t kSamples = 512;
  constexpr std::int64_t kBatch = 64;  // An accuracy is the mean over batches of this size.
  try {
    const auto task = che::create_task(argc > 1 ? argv[1] : "reverse_string", {});
    for (int i = 2; i < argc; ++i) {
      const std::int64_t length = std::stoll(argv[i]);
      double mean = 0;
      for (std::int64_t first = 0; first < kSamples; first += kBatch) {
        che::Batch batch;
        // The key of the samples that `che run` evaluates with, where evaluation.seed is 0.
        che::sample_batch(*task, che::evaluation_key(0, length, first), length, kBatch, batch);
        mean += accuracy(batch) * kBatch / kSamples;
      }
      fmt::print("{} {:.4f}\n", length, mean);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "measure_guess: {}\n", error.what());
    return 2;
  }
  return 0;
}
