// Every operation with its kernels next to its composition of library operations, forward and backward, one
// thread: at the model's sizes (d = 256, 8 heads) for 128 examples of T tokens, and 8 of 512.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>

#include <utility>

#include "models/ops/cases.h"

namespace che {
namespace {

// Times the case and the gradients of its inputs.
void time_case(benchmark::State& state, const OperationCase& operation, Kernels kernels) {
  const Backend backend{kernels, at::TensorOptions().dtype(at::kFloat)};
  const auto apply = [&] { return operation.apply(operation.inputs, backend); };
  const at::Tensor direction = at::randn_like(apply());
  for ([[maybe_unused]] auto _ : state) {
    if (operation.is_in_place) {
      apply();
      continue;
    }
    for (const at::Tensor& input : operation.inputs) {
      if (input.requires_grad()) input.mutable_grad().reset();
    }
    apply().backward(direction);
  }
}

void add_row(const OperationCase& operation, const std::string& name) {
  for (const Kernels kernels : {Kernels::kFused, Kernels::kReference}) {
    const std::string row = name + (kernels == Kernels::kFused ? "/fused" : "/reference");
    benchmark::RegisterBenchmark(row.c_str(), [operation, kernels](benchmark::State& state) {
      time_case(state, operation, kernels);
    })->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace che

int main(int argc, char** argv) {
  at::set_num_threads(1);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  for (const auto& [tokens, batch] : {std::pair(41, 128), {120, 128}, {512, 8}}) {
    for (const che::OperationCase& operation : che::sequence_cases({}, tokens, batch)) {
      che::add_row(operation, operation.name + "/T:" + std::to_string(tokens));
    }
  }
  che::add_row(che::adam_case(4'000'000), "Adam");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
