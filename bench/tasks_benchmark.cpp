// Time to sample a batch of 128, the training batch, of every task.
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <tbb/task_arena.h>

#include "tasks/task.h"

namespace {

constexpr std::int64_t kBatchSize = 128;

void sample_batch(benchmark::State& state, const std::string& name, std::int64_t length, int threads) {
  const auto task = che::create_task(name);
  tbb::task_arena arena(threads);
  che::BatchKey key;
  che::Batch batch;
  arena.execute([&] {
    for (auto _ : state) {
      che::sample_batch(*task, key, length, kBatchSize, batch);
      benchmark::DoNotOptimize(batch.output.data());
      ++key.step;
    }
  });
  state.counters["samples_per_second"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kBatchSize), benchmark::Counter::kIsRate);
}

void register_benchmarks() {
  for (const std::string& name : che::Registry<che::TaskEntry>::instance().names()) {
    for (const std::int64_t length : {40, 500}) {
      for (const int threads : {1, static_cast<int>(tbb::task_arena::automatic)}) {
        const std::string title =
            fmt::format("{}/length:{}/threads:{}", name, length, threads == 1 ? "1" : "all");
        benchmark::RegisterBenchmark(
            title.c_str(), [=](benchmark::State& state) { sample_batch(state, name, length, threads); })
            ->Unit(benchmark::kMicrosecond)
            ->UseRealTime();
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  register_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
