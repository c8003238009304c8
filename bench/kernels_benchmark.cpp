// Every fused operation next to its composition of library operations, forward and backward, one
// thread: at the model's sizes (d = 256, 8 heads) for 128 examples of T tokens.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>

#include <functional>
#include <vector>

#include "models/ops/attention/attention.h"
#include "models/ops/feed_forward/feed_forward.h"
#include "models/ops/residual_norm/residual_norm.h"
#include "models/ops/rotation/rotation.h"
#include "models/parameters/adam.h"

namespace che {
namespace {

constexpr std::int64_t kBatch = 128;
constexpr std::int64_t kWidth = 256;
constexpr std::int64_t kHeads = 8;
constexpr std::int64_t kHidden = 64;

Backend backend_of(Kernels kernels) { return {kernels, at::TensorOptions().dtype(at::kFloat)}; }

using Operation = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

at::Tensor leaf(const std::vector<std::int64_t>& shape) { return at::randn(shape).requires_grad_(true); }

// Times f and the gradients of its inputs.
void time_both_ways(benchmark::State& state, const std::vector<at::Tensor>& inputs, const Operation& f) {
  const at::Tensor direction = at::randn_like(f(inputs));
  for ([[maybe_unused]] auto _ : state) {
    for (const at::Tensor& input : inputs) input.mutable_grad().reset();
    f(inputs).backward(direction);
  }
}

void residual_norm_of(benchmark::State& state, Kernels kernels) {
  const Dropout dropout{0.1, {1}, Purpose::kDropout, 3, 0};
  time_both_ways(
      state,
      {leaf({1, kBatch, state.range(0), kWidth}), leaf({1, kBatch, state.range(0), kWidth}),
       leaf({1, kWidth}), leaf({1, kWidth}), leaf({1, kWidth})},
      [&](const std::vector<at::Tensor>& in) {
        return residual_norm(in[0], in[1], in[2], in[3], in[4], {dropout, 1, 0}, backend_of(kernels));
      });
}

void feed_forward_of(benchmark::State& state, Kernels kernels) {
  time_both_ways(state,
                 {leaf({1, kBatch, state.range(0), kWidth}), leaf({1, kWidth, 4 * kWidth}),
                  leaf({1, 4 * kWidth}), leaf({1, 4 * kWidth, kWidth})},
                 [&](const std::vector<at::Tensor>& in) {
                   return feed_forward(in[0], in[1], in[2], in[3], backend_of(kernels));
                 });
}

void rotation_of(benchmark::State& state, Kernels kernels) {
  const at::Tensor angles = at::randn({state.range(0), kWidth / kHeads / 2});
  time_both_ways(state, {leaf({1, kBatch, state.range(0), kHeads, kWidth / kHeads})},
                 [&](const std::vector<at::Tensor>& in) {
                   return rotate(in[0], angles.sin(), angles.cos(), backend_of(kernels));
                 });
}

// softmax(A + B [+ f]) v with a bias by offset.
void attention_of(benchmark::State& state, Kernels kernels, bool with_dape) {
  const std::int64_t tokens = state.range(0);
  std::vector<at::Tensor> inputs;
  for (int i = 0; i < 3; ++i) inputs.push_back(leaf({1, kBatch, tokens, kHeads, kWidth / kHeads}));
  inputs.push_back(leaf({1, kHeads, 2 * tokens - 1}));
  if (with_dape) {
    inputs.push_back(leaf({1, 2 * kHeads, kHidden}));
    inputs.push_back(leaf({1, kHidden}));
    inputs.push_back(leaf({1, kHidden, kHeads}));
    inputs.push_back(leaf({1, kHeads}));
  }
  time_both_ways(state, inputs, [&](const std::vector<at::Tensor>& in) {
    const PairValues bias{in[3], true};
    const AttentionTerms terms =
        with_dape ? AttentionTerms(AdaptedBias{bias, true, {in[4], in[5], in[6], in[7]}}) : bias;
    return attention(in[0], in[1], in[2], terms, backend_of(kernels), {});
  });
}

void adam_of(benchmark::State& state, Kernels kernels) {
  ParameterSet parameters({{"w", {state.range(0)}, Init::normal(1)}}, 1,
                          at::TensorOptions().dtype(at::kFloat));
  parameters.gradients().normal_();
  Adam adam(parameters, {1e-3}, 1.0, backend_of(kernels));
  std::int64_t step = 0;
  for ([[maybe_unused]] auto _ : state) adam.update(parameters, step++);
}

void add_rows() {
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    const std::string suffix = kernels == Kernels::kFused ? "/fused/T" : "/reference/T";
    const auto add = [&](const std::string& name, auto f) {
      benchmark::RegisterBenchmark((name + suffix).c_str(), f)
          ->Arg(41)
          ->Arg(120)
          ->Unit(benchmark::kMillisecond);
    };
    add("residual_norm", [kernels](benchmark::State& state) { residual_norm_of(state, kernels); });
    add("feed_forward", [kernels](benchmark::State& state) { feed_forward_of(state, kernels); });
    add("rotation", [kernels](benchmark::State& state) { rotation_of(state, kernels); });
    add("attention", [kernels](benchmark::State& state) { attention_of(state, kernels, false); });
    add("attention_dape", [kernels](benchmark::State& state) { attention_of(state, kernels, true); });
    benchmark::RegisterBenchmark(kernels == Kernels::kFused ? "adam/fused/values" : "adam/reference/values",
                                 [kernels](benchmark::State& state) { adam_of(state, kernels); })
        ->Arg(4'000'000)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace che

int main(int argc, char** argv) {
  at::set_num_threads(1);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  che::add_rows();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
