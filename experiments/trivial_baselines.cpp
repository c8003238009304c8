#include "experiments/trivial_baselines.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "tasks/task.h"

namespace che {
namespace {

// How often each symbol stood at each place of the output, where accuracy counts it.
struct Counts {
  std::size_t symbols;
  std::vector<std::int64_t> count;  // (output_length, symbols)
  std::vector<double> constant;     // (symbols), accuracy of each as the only answer

  std::uint8_t likeliest(std::size_t place) const {
    const auto first = count.begin() + static_cast<std::ptrdiff_t>(place * symbols);
    return static_cast<std::uint8_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(symbols)) -
                                     first);
  }
};

// Examples a length that predictors are fitted to, at least: few mistake a symbol that is rarer for the
// likeliest.
constexpr std::int64_t kFewestFitted = 1024;

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

// Symbols of a batch that count for accuracy.
double counted(const Batch& batch) {
  return static_cast<double>(std::count(batch.mask.begin(), batch.mask.end(), 1));
}

// Accuracy of each symbol as the only answer is added to `accuracy`, weighted.
void add_constant_accuracy(const Batch& batch, double weight, std::vector<double>& accuracy) {
  std::vector<std::int64_t> hits(accuracy.size());
  for (std::size_t i = 0; i < batch.output.size(); ++i) hits[batch.output[i]] += batch.mask[i];
  const double share = weight / counted(batch);
  for (std::size_t s = 0; s < hits.size(); ++s) accuracy[s] += share * static_cast<double>(hits[s]);
}

Counts count_symbols(const Task& task, const TaskConfig& config, const EvaluationConfig& evaluation,
                     std::int64_t length) {
  Counts counts{.symbols = task.output_symbols().size(), .count = {}, .constant = {}};
  const auto places = static_cast<std::size_t>(task.output_length(length));
  counts.count.resize(places * counts.symbols);
  counts.constant.resize(counts.symbols);
  const std::int64_t fitted = std::max(evaluation.samples, kFewestFitted);
  const double weight = static_cast<double>(kEvaluationBatch) / static_cast<double>(fitted);
  // The examples that follow those of the evaluation.
  each_batch(task, config, evaluation, length, evaluation.samples, fitted, [&](const Batch& batch) {
    for (std::size_t i = 0; i < batch.output.size(); ++i) {
      counts.count[i % places * counts.symbols + batch.output[i]] += batch.mask[i];
    }
    add_constant_accuracy(batch, weight, counts.constant);
  });
  return counts;
}

}  // namespace

TrivialBaselines measure_trivial_baselines(const TaskConfig& task_config,
                                           const EvaluationConfig& evaluation) {
  const std::unique_ptr<Task> task = create_task(task_config.name, task_config.options);
  const std::size_t symbols = task->output_symbols().size();
  const double weight = static_cast<double>(kEvaluationBatch) / static_cast<double>(evaluation.samples);

  std::vector<double> fitted(symbols);                // Score of each symbol as the only answer.
  std::vector<std::vector<double>> accuracy_of;       // (lengths, symbols)
  std::vector<TrivialBaselines::AtLength> by_length;  // Their constant is filled in last.
  for (const std::int64_t length : evaluation.lengths()) {
    const Counts counts = count_symbols(*task, task_config, evaluation, length);
    for (std::size_t s = 0; s < symbols; ++s) fitted[s] += counts.constant[s];
    std::vector<std::uint8_t> answer(static_cast<std::size_t>(task->output_length(length)));
    for (std::size_t place = 0; place < answer.size(); ++place) answer[place] = counts.likeliest(place);

    std::vector<double> constant(symbols);
    double position_only = 0;
    each_batch(*task, task_config, evaluation, length, 0, evaluation.samples, [&](const Batch& batch) {
      add_constant_accuracy(batch, weight, constant);
      std::int64_t hits = 0;
      for (std::size_t i = 0; i < batch.output.size(); ++i) {
        hits += batch.output[i] == answer[i % answer.size()] ? batch.mask[i] : 0;
      }
      position_only += weight * static_cast<double>(hits) / counted(batch);
    });
    accuracy_of.push_back(std::move(constant));
    by_length.push_back({.length = length, .constant = 0, .position_only = position_only});
  }

  const auto best = static_cast<std::size_t>(std::max_element(fitted.begin(), fitted.end()) - fitted.begin());
  TrivialBaselines baselines{.symbol = task->output_symbols()[best], .lengths = std::move(by_length)};
  const auto count = static_cast<double>(baselines.lengths.size());
  for (std::size_t i = 0; i < baselines.lengths.size(); ++i) {
    baselines.lengths[i].constant = accuracy_of[i][best];
    baselines.constant += accuracy_of[i][best] / count;
    baselines.position_only += baselines.lengths[i].position_only / count;
  }
  return baselines;
}

}  // namespace che
