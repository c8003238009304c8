#include "experiments/trivial_baselines.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "tasks/task.h"

namespace che {
namespace {

// Examples a length that predictors are fitted to, at least: few mistake a symbol that is rarer for the
// likeliest.
constexpr std::int64_t kFewestFitted = 1024;

// How often each symbol stands at each place of some outputs, where accuracy counts it.
class SymbolCounts {
 public:
  SymbolCounts(std::size_t places, std::size_t symbols) : symbols_(symbols), count_(places * symbols) {}

  void add(const Batch& batch) {
    const auto places = static_cast<std::size_t>(batch.output_length);
    for (std::size_t first = 0; first < batch.output.size(); first += places) {
      for (std::size_t place = 0; place < places; ++place) {
        count_[place * symbols_ + batch.output[first + place]] += batch.mask[first + place];
      }
    }
  }

  std::vector<std::size_t> likeliest() const {
    std::vector<std::size_t> likeliest;
    for (auto first = count_.begin(); first != count_.end(); first += static_cast<std::ptrdiff_t>(symbols_)) {
      const auto best = std::max_element(first, first + static_cast<std::ptrdiff_t>(symbols_));
      likeliest.push_back(static_cast<std::size_t>(best - first));
    }
    return likeliest;
  }

  // Share of what is counted that a predictor with this answer at each place gets right.
  double accuracy(const std::vector<std::size_t>& answer) const {
    std::int64_t hits = 0;
    for (std::size_t place = 0; place < answer.size(); ++place)
      hits += count_[place * symbols_ + answer[place]];
    return static_cast<double>(hits) / counted();
  }

  // The same of each symbol as the only answer, added to `sums` with a weight.
  void add_constant_accuracy(double weight, std::vector<double>& sums) const {
    std::vector<std::int64_t> hits(symbols_);
    for (std::size_t i = 0; i < count_.size(); ++i) hits[i % symbols_] += count_[i];
    for (std::size_t s = 0; s < symbols_; ++s) sums[s] += weight * static_cast<double>(hits[s]) / counted();
  }

 private:
  double counted() const {
    return static_cast<double>(std::accumulate(count_.begin(), count_.end(), std::int64_t{0}));
  }

  std::size_t symbols_;
  std::vector<std::int64_t> count_;  // (places, symbols)
};

// Draws `count` examples of one length, a batch at a time, as the evaluation of models does.
template <class Each>
void each_batch(const Task& task, const TaskConfig& config, const EvaluationConfig& evaluation,
                std::int64_t length, std::int64_t first_example, std::int64_t count, const Each& each) {
  Batch batch;
  for (std::int64_t done = 0; done < count; done += kEvaluationBatch) {
    sample_batch(task, config.name,
                 {static_cast<std::uint64_t>(evaluation.seed), Purpose::kEvaluation,
                  static_cast<std::uint64_t>(length), static_cast<std::uint64_t>(first_example + done)},
                 length, kEvaluationBatch, batch);
    each(batch);
  }
}

}  // namespace

TrivialBaselines measure_trivial_baselines(const TaskConfig& task_config,
                                           const EvaluationConfig& evaluation) {
  const std::unique_ptr<Task> task = create_task(task_config.name, task_config.options);
  const std::size_t symbols = task->output_symbols().size();
  const double weight = static_cast<double>(kEvaluationBatch) / static_cast<double>(evaluation.samples);

  std::vector<double> fitted(symbols);                // Score of each symbol as the only answer.
  std::vector<std::vector<double>> constant;          // (lengths, symbols), accuracy likewise
  std::vector<TrivialBaselines::AtLength> by_length;  // Their constant is filled in last.
  for (const std::int64_t length : evaluation.lengths()) {
    const SymbolCounts none(static_cast<std::size_t>(task->output_length(length)), symbols);
    SymbolCounts seen = none;
    // The examples that follow those of the evaluation.
    each_batch(*task, task_config, evaluation, length, evaluation.samples,
               std::max(evaluation.samples, kFewestFitted), [&](const Batch& batch) { seen.add(batch); });
    seen.add_constant_accuracy(1, fitted);
    const std::vector<std::size_t> answer = seen.likeliest();

    constant.emplace_back(symbols);
    double position_only = 0;
    each_batch(*task, task_config, evaluation, length, 0, evaluation.samples, [&](const Batch& batch) {
      SymbolCounts counts = none;
      counts.add(batch);
      counts.add_constant_accuracy(weight, constant.back());
      position_only += weight * counts.accuracy(answer);
    });
    by_length.push_back({.length = length, .constant = 0, .position_only = position_only});
  }

  const auto best = static_cast<std::size_t>(std::max_element(fitted.begin(), fitted.end()) - fitted.begin());
  TrivialBaselines baselines{.symbol = task->output_symbols()[best], .lengths = std::move(by_length)};
  const auto count = static_cast<double>(baselines.lengths.size());
  for (std::size_t i = 0; i < baselines.lengths.size(); ++i) {
    baselines.lengths[i].constant = constant[i][best];
    baselines.constant += constant[i][best] / count;
    baselines.position_only += baselines.lengths[i].position_only / count;
  }
  return baselines;
}

}  // namespace che
