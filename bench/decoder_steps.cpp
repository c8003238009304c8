// Times training steps of a language model's decoder on one core: for compare.py, beside torch_decoder.py.
//   decoder_steps ENCODING STEPS JSON
// The model is 6 layers of width 128 with 4 heads in pre-norm blocks, a batch 32 windows of 128 tokens of
// 257.
#include <ATen/ATen.h>
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/learn/training.h"
#include "models/architectures/encoder.h"
#include "models/architectures/encoder_model.h"
#include "models/ops/product/product.h"

namespace che {
namespace {

constexpr ModelShape kShape{
    .width = 128, .layers = 6, .heads = 4, .block = BlockForm::kPreNorm, .causal = true};
constexpr std::int64_t kSymbols = 257, kWindows = 32, kTokens = 128;

// The median of the seconds of `count` calls after `warmup` others.
template <class Work>
double median_seconds(std::int64_t warmup, std::int64_t count, const Work& work) {
  std::vector<double> seconds;
  for (std::int64_t i = 0; i < warmup + count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work(i);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (i >= warmup) seconds.push_back(taken.count());
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

// Operations a second of the product that the first layer of the feed-forward network takes.
double matrix_rate() {
  const at::Tensor a = at::randn({1, kWindows * kTokens, kShape.width});
  const at::Tensor b = at::randn({1, kShape.width, 4 * kShape.width});
  return 2 * static_cast<double>(a.numel() * b.size(2)) /
         median_seconds(2, 9, [&](std::int64_t) { product(a, b); });
}

void run(const std::string& encoding, std::int64_t steps, const std::string& file) {
  const ThreadLimit limit(1);
  EncodingConfig config;
  config.reset(encoding);
  if (config.dape) config.dape->hidden = 32;
  const Backend backend{Kernels::kFused, at::TensorOptions().dtype(at::kFloat)};
  Encoder model({kShape, {kSymbols, kSymbols}, create_encoding(config, {kTokens})}, 1, backend);
  model.parameters().initialise(std::vector<std::int64_t>{0});
  Adam adam(model.parameters(), {1e-3}, {}, backend);
  const TensorBatch batch{at::randint(kSymbols, {kWindows, kTokens}, at::kLong),
                          at::randint(kSymbols, {kWindows, kTokens}, at::kLong),
                          at::ones({kWindows, kTokens}, at::kByte)};
  const Positions positions;
  const double seconds = median_seconds(3, steps, [&](std::int64_t step) {
    read_result(training_step(model, adam, batch, {.positions = positions}, step));
  });
  const auto tokens = static_cast<double>(kWindows * kTokens);
  const double operations =
      3 * (transformer_operations(kShape, config.dape, tokens, tokens * (kTokens + 1) / 2) +
           2 * tokens * static_cast<double>(kShape.width * kSymbols));
  const double rate = matrix_rate();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const nlohmann::json row{{"milliseconds", 1e3 * seconds},
                           {"peak_mib", static_cast<double>(usage.ru_maxrss) / 1024},
                           {"tokens", kTokens},
                           {"matrix_rate", rate},
                           {"share", operations / seconds / rate}};
  std::ofstream(file) << nlohmann::json{{"rows", {row}}}.dump() << "\n";
}

}  // namespace
}  // namespace che

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: decoder_steps ENCODING STEPS JSON\n");
    return 2;
  }
  try {
    che::run(argv[1], std::stoll(argv[2]), argv[3]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "decoder_steps: {}\n", error.what());
    return 1;
  }
}
