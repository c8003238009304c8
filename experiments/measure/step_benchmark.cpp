#include "experiments/measure/step_benchmark.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>

#include "core/clock.h"
#include "experiments/learn/batches.h"
#include "experiments/learn/evaluation.h"
#include "experiments/learn/limits.h"
#include "experiments/learn/model_factory.h"
#include "experiments/learn/training.h"
#include "experiments/plan/operations.h"
#include "experiments/plan/run_workload.h"
#include "experiments/statistics/score_summary.h"

namespace che {
namespace {

// The part of a step that an operation of this name belongs to; empty for none.
std::string_view part_of(std::string_view operation) {
  static const std::map<std::string_view, std::string_view> parts{
      {"che::attention", "attention"}, {"aten::softmax", "attention"}, {"che::residual_norm", "norm"},
      {"aten::layer_norm", "norm"},    {"che::adam", "optimiser"},     {"che::bias_relu", "linear"},
      {"che::product", "linear"},      {"aten::bmm", "linear"},        {"aten::baddbmm", "linear"},
      {"aten::baddbmm_", "linear"},    {"aten::mm", "linear"},         {"aten::matmul", "linear"},
      {"che::unroll", "linear"},       {"che::batch", "data"},
  };
  const auto found = parts.find(operation);
  return found == parts.end() ? "" : found->second;
}

// Measures the time of this thread's operations by part. If several are nested, the outermost that belongs to
// a part counts.
class PartClock {
 public:
  PartClock() {
    current_ = this;
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&begin, &end));
  }
  ~PartClock() {
    at::removeCallback(handle_);
    current_ = nullptr;
  }
  PartClock(const PartClock&) = delete;
  PartClock& operator=(const PartClock&) = delete;

  std::map<std::string, double> take() { return std::exchange(seconds_, {}); }

 private:
  // The backward pass of a GPU calls them too, in a thread of its own, which has no clock.
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    if (current_ == nullptr) return nullptr;
    PartClock& clock = *current_;
    const std::string_view part = clock.depth_ == 0 ? part_of(function.name()) : "";
    if (clock.depth_ > 0 || !part.empty()) ++clock.depth_;
    if (!part.empty()) {
      clock.part_ = part;
      clock.start_ = Clock::now();
    }
    return nullptr;
  }

  static void end(const at::RecordFunction&, at::ObserverContext*) {
    if (current_ == nullptr) return;
    PartClock& clock = *current_;
    if (clock.depth_ == 0 || --clock.depth_ > 0) return;
    clock.seconds_[std::string(clock.part_)] += seconds_since(clock.start_);
  }

  static thread_local PartClock* current_;
  at::CallbackHandle handle_;
  int depth_ = 0;
  std::string_view part_;
  Clock::time_point start_;
  std::map<std::string, double> seconds_;
};

thread_local PartClock* PartClock::current_ = nullptr;

// Lets the kernel forget the largest resident set so far, where it can, and a GPU its peak.
void reset_peak(const at::Device& device) {
  if (!device.is_cpu()) return reset_peak_device_bytes(device);
  std::ofstream("/proc/self/clear_refs") << "5";
}

// Returns a job of as many runs as train in lock-step.
std::vector<RunConfig> replicas_of(const RunConfig& config) {
  std::vector<RunConfig> runs(static_cast<std::size_t>(config.execution.replicas), config);
  for (std::size_t r = 0; r < runs.size(); ++r) runs[r].seed = config.seed + static_cast<std::int64_t>(r);
  return runs;
}

double peak_bytes(const at::Device& device) {
  if (!device.is_cpu()) return peak_device_bytes(device);
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "VmHWM:") {
      double kib = 0;
      status >> kib;
      return kib * 1024;
    }
  }
  return 0;
}

// Operations a second of the product that the model's time is compared with.
class MatrixProduct {
 public:
  MatrixProduct(std::int64_t rows, std::int64_t width, const at::TensorOptions& options)
      : operations_(8 * static_cast<double>(rows) * static_cast<double>(width) * static_cast<double>(width)),
        left_(at::rand({1, rows, width}).to(options)),
        right_(at::rand({1, width, 4 * width}).to(options)),
        product_(at::empty({1, rows, 4 * width}, options)) {}

  double rate() {
    const Clock::time_point start = Clock::now();
    write_product(product_, left_, right_, Write::kReplace);
    wait_for(product_);
    return operations_ / seconds_since(start);
  }

 private:
  double operations_;
  at::Tensor left_, right_, product_;
};

}  // namespace

void wait_for(const at::Tensor& result) {
  if (!result.is_cpu()) result.flatten().slice(0, 0, 1).to(at::kCPU);
}

StepCost measure_step(RunConfig config, std::int64_t length, const BenchmarkPlan& plan,
                      const Backend& backend) {
  config.training.first_length = config.training.last_length = length;
  config.data_seed = 0;
  std::int64_t& batch_size = config.training.batch_size;
  if (plan.evaluate) batch_size = kEvaluationBatch;
  if (plan.most_examples > 0) batch_size = std::min(batch_size, plan.most_examples);
  TrainingState state(replicas_of(config), backend);
  const std::int64_t tokens = state.workload->tokens(length);
  const at::Device device = state.model->backend().device();
  // If there are graphs, the second step is the one that is captured.
  const std::int64_t warm_up = state.graphs ? std::max<std::int64_t>(plan.warm_up, 2) : plan.warm_up;
  MatrixProduct product(batch_size * tokens, config.model.width(), state.model->backend().options);

  std::vector<double> totals;
  std::vector<double> rates;
  std::map<std::string, std::vector<double>> parts;
  PartClock clock;
  SequenceBatch batch;
  for (std::int64_t step = 0; step < warm_up + plan.steps; ++step) {
    const bool timed = step >= warm_up;
    if (step == warm_up) reset_peak(device);
    clock.take();
    const Clock::time_point start = Clock::now();
    if (plan.evaluate) {
      state.workload->evaluation_batch(length, 0, batch_size, batch);
    } else {
      state.workload->training_batch(step, batch);
    }
    const double sampling_seconds = seconds_since(start);
    if (plan.evaluate) {
      const auto positions =
          create_positions(config, config.evaluation.seed, Purpose::kEvaluationPositions,
                           static_cast<std::uint64_t>(length), static_cast<std::uint64_t>(step));
      const Pass pass{.positions = positions, .is_evaluation = true};
      const Wanted wanted{.losses = !batch.windows.empty()};
      // It takes as many examples at once as an evaluation does.
      if (step == 0) {
        batch_size = examples_within(config.execution.memory_gib, *state.model, batch, pass, wanted);
      }
      wait_for(predict_rows(*state.model, batch, 0, batch_size, pass, wanted).score.loss);
    } else {
      wait_for(state.make_step(batch));
    }
    const double total = seconds_since(start);
    std::map<std::string, double> spent = clock.take();
    spent["data"] += sampling_seconds;
    double other = total;
    for (const auto& [part, seconds] : spent) other -= seconds;
    spent["other"] = other;
    const double rate = product.rate();
    if (!timed) continue;
    totals.push_back(total);
    rates.push_back(rate);
    for (const char* part : {"data", "attention", "linear", "norm", "optimiser", "other"}) {
      parts[part].push_back(spent[part]);
    }
  }

  StepCost cost{.tokens = tokens,
                .seconds = aggregate_of(totals, Aggregate::kMedian),
                .matrix_rate = aggregate_of(rates, Aggregate::kMedian),
                .peak_bytes = peak_bytes(device)};
  for (const auto& [part, seconds] : parts) cost.parts[part] = aggregate_of(seconds, Aggregate::kMedian);
  const auto replicas = static_cast<double>(config.execution.replicas);
  cost.samples_per_second = replicas * static_cast<double>(batch_size) / cost.seconds;
  cost.operations = replicas * training_step_operations(config) / (plan.evaluate ? 3 : 1);
  cost.share = cost.operations / cost.seconds / cost.matrix_rate;
  return cost;
}

}  // namespace che
