// Every operation with its kernels next to its composition of library operations, forward and backward, one
// thread: at the model's sizes (d = 256, 8 heads) for 128 examples of T tokens, and 8 of 512.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <oneapi/tbb/global_control.h>

#include <functional>
#include <utility>

#include "models/ops/cases.h"
#include "models/ops/product/product.h"

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

// The first product of a feed-forward layer, forward and backward, beside the library's of single precision.
void add_product_rows(std::int64_t tokens) {
  const auto operand = [](std::int64_t rows, std::int64_t columns) {
    return at::randn({1, rows, columns}).set_requires_grad(true);
  };
  const at::Tensor a = operand(128 * tokens, 256), b = operand(256, 1024);
  const at::Tensor direction = at::randn({1, 128 * tokens, 1024});
  const auto add = [&](const char* name, const std::function<at::Tensor()>& multiply) {
    benchmark::RegisterBenchmark(fmt::format("product/T:{}/{}", tokens, name).c_str(),
                                 [=](benchmark::State& state) {
                                   for ([[maybe_unused]] auto _ : state) multiply().backward(direction);
                                 })
        ->Unit(benchmark::kMillisecond);
  };
  add("fused", [=] { return product(a, b); });
  add("fused bf16", [=] { return product(a, b, Operands::kBf16); });
  add("reference", [=] { return at::matmul(a, b); });
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
    if (tokens == 41) che::add_product_rows(tokens);
  }
  che::add_row(che::adam_case(4'000'000), "Adam");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
