#include "experiments/results/trivial_baselines.h"

#include <algorithm>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "core/parallel.h"
#include "experiments/results/result_table.h"
#include "tasks/declared/automaton_task.h"

namespace che {
namespace {

namespace statistics = boost::math::statistics;

// Examples a length that predictors are fitted to, at least: few mistake a symbol that is rarer for the
// likeliest.
constexpr std::int64_t kMinFitted = 1024;

// How long it takes to draw a symbol of an input, in units of a small alphabet's: it grows with the symbols,
// and balanced samples look at the counts of each.
std::int64_t drawing_cost(const Task& task) {
  const std::int64_t symbols = std::ssize(task.input_symbols());
  const auto* const declared = dynamic_cast<const AutomatonTask*>(&task);
  if (declared != nullptr && declared->definition().sampling == InputSampling::kBalanced) return 16 * symbols;
  return (symbols + 15) / 16;
}

// A table with more rows than this has one bound for all of them.
constexpr std::int64_t kRowsOfOwnBound = 16;

// Returns `samples`, or fewer: as many whole batches as `max_symbols` allows, or else a part of a batch,
// which is one sample at least.
std::int64_t samples_drawn(std::int64_t samples, std::int64_t length, std::int64_t max_symbols) {
  const std::int64_t allowed = std::max(max_symbols / length, std::int64_t{1});
  const std::int64_t part = allowed < kEvaluationBatch ? 0 : allowed % kEvaluationBatch;
  return std::min(samples, allowed - part);
}

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

  // Fraction of what is counted that a predictor with this answer at each position gets right.
  double accuracy(const std::vector<std::size_t>& answer) const {
    std::int64_t hits = 0;
    for (std::size_t place = 0; place < answer.size(); ++place)
      hits += count_[place * symbols_ + answer[place]];
    return static_cast<double>(hits) / counted();
  }

  // The same of each symbol as the only answer.
  std::vector<double> constant_accuracy() const {
    std::vector<double> accuracy(symbols_);
    const double all = counted();
    for (std::size_t i = 0; i < count_.size(); ++i) {
      accuracy[i % symbols_] += static_cast<double>(count_[i]) / all;
    }
    return accuracy;
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
void each_batch(const Task& task, const EvaluationConfig& evaluation, std::int64_t length,
                std::int64_t first_example, std::int64_t count, const Each& each) {
  Batch batch;
  for (std::int64_t done = 0; done < count; done += kEvaluationBatch) {
    sample_batch(task, evaluation_key(evaluation.seed, length, first_example + done), length,
                 std::min(kEvaluationBatch, count - done), batch);
    each(batch);
  }
}

// A predictor's accuracy in every evaluation batch: (lengths, batches).
class BatchAccuracies {
 public:
  void begin_length() { accuracies_.emplace_back(); }
  void add(double accuracy) { accuracies_.back().push_back(accuracy); }

  double at_length(std::size_t i) const { return statistics::mean(accuracies_[i]); }

  Baseline baseline() const {
    const auto lengths = static_cast<double>(accuracies_.size());
    Baseline baseline;
    double variance = 0;  // Of the score.
    for (const std::vector<double>& batches : accuracies_) {
      baseline.score += statistics::mean(batches) / lengths;
      if (batches.size() < 2) continue;
      variance +=
          statistics::sample_variance(batches) / static_cast<double>(batches.size()) / lengths / lengths;
    }
    const auto has_scatter = [](const std::vector<double>& batches) { return batches.size() > 1; };
    if (std::ranges::all_of(accuracies_, has_scatter)) baseline.standard_error = std::sqrt(variance);
    return baseline;
  }

 private:
  std::vector<std::vector<double>> accuracies_;
};

// The answer of the predictor that counts input symbols.
class FrequentSymbol {
 public:
  // Nothing where the output has symbols of its own.
  static std::optional<FrequentSymbol> of(const Task& task) {
    FrequentSymbol result(task.input_symbols().size());
    const std::string_view outputs = task.output_symbols();
    for (std::size_t id = 0; id < outputs.size(); ++id) {
      if (task.ends_at_terminator() && id == kTerminator) continue;
      const std::size_t input = task.input_symbols().find(outputs[id]);
      if (input == std::string_view::npos) return std::nullopt;
      result.output_of_input_[input] = id;
    }
    return result;
  }

  double accuracy(const Batch& batch) const {
    double hits = 0;
    double counted = 0;
    for (std::int64_t sample = 0; sample < batch.size; ++sample) {
      const std::size_t answer = most_frequent(batch, sample);
      for (std::int64_t i = sample * batch.output_length; i < (sample + 1) * batch.output_length; ++i) {
        const auto at = static_cast<std::size_t>(i);
        counted += batch.mask[at];
        if (batch.mask[at] != 0 && batch.output[at] == answer) ++hits;
      }
    }
    return hits / counted;
  }

 private:
  explicit FrequentSymbol(std::size_t input_symbols) : output_of_input_(input_symbols) {}

  // Of equally frequent symbols the first.
  std::size_t most_frequent(const Batch& batch, std::int64_t sample) const {
    std::vector<std::int64_t> counts(output_of_input_.size());
    for (std::int64_t i = sample * batch.input_length; i < (sample + 1) * batch.input_length; ++i) {
      ++counts[batch.input[static_cast<std::size_t>(i)]];
    }
    std::optional<std::size_t> best;
    for (std::size_t id = 0; id < counts.size(); ++id) {
      if (output_of_input_[id] && (!best || counts[id] > counts[*best])) best = id;
    }
    return *output_of_input_[*best];
  }

  std::vector<std::optional<std::size_t>> output_of_input_;  // By input symbol, where the output can hold it.
};

// Whether both are measured on as many samples of the same lengths.
bool same_samples(const TableRun& one, const TableRun& other) {
  return one.scored_lengths == other.scored_lengths &&
         one.config.evaluation.samples == other.config.evaluation.samples;
}

// Returns at most 20 of the lengths, in even steps from the first to the last, which are measured in a second
// or two.
std::vector<std::int64_t> lengths_for_marks(const std::vector<std::int64_t>& lengths) {
  constexpr std::size_t kMost = 20;
  if (lengths.size() <= kMost) return lengths;
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < kMost; ++i) chosen.push_back(lengths[i * (lengths.size() - 1) / (kMost - 1)]);
  return chosen;
}

}  // namespace

const Baseline& TrivialBaselines::best_without_input() const {
  return position_only.score > constant.score ? position_only : constant;
}

const Baseline& TrivialBaselines::best() const {
  const Baseline& best = best_without_input();
  return frequent_symbol && frequent_symbol->score > best.score ? *frequent_symbol : best;
}

TrivialBaselines measure_trivial_baselines(const TaskConfig& task_config, const EvaluationConfig& evaluation,
                                           const std::vector<std::int64_t>& lengths,
                                           std::int64_t max_symbols) {
  const std::unique_ptr<Task> task = create_task(task_config);
  const std::size_t symbols = task->output_symbols().size();
  const std::int64_t of_length = max_symbols / std::ssize(lengths) / drawing_cost(*task);
  const std::optional<FrequentSymbol> counting = FrequentSymbol::of(*task);

  std::vector<BatchAccuracies> constant(symbols);
  BatchAccuracies position_only;
  BatchAccuracies frequent;
  for (const std::int64_t length : lengths) {
    const SymbolCounts none(static_cast<std::size_t>(task->output_length(length)), symbols);
    SymbolCounts seen = none;
    const std::int64_t samples = samples_drawn(evaluation.samples, length, of_length);
    const std::int64_t fitted = samples_drawn(std::max(evaluation.samples, kMinFitted), length, of_length);
    // The examples that follow those of the evaluation.
    each_batch(*task, evaluation, length, evaluation.samples, fitted,
               [&](const Batch& batch) { seen.add(batch); });
    const std::vector<std::size_t> answer = seen.likeliest();
    for (BatchAccuracies& accuracies : constant) accuracies.begin_length();
    position_only.begin_length();
    frequent.begin_length();
    each_batch(*task, evaluation, length, 0, samples, [&](const Batch& batch) {
      SymbolCounts counts = none;
      counts.add(batch);
      const std::vector<double> of_symbols = counts.constant_accuracy();
      for (std::size_t s = 0; s < symbols; ++s) constant[s].add(of_symbols[s]);
      position_only.add(counts.accuracy(answer));
      if (counting) frequent.add(counting->accuracy(batch));
    });
  }

  TrivialBaselines baselines;
  std::size_t best = 0;
  for (std::size_t s = 0; s < symbols; ++s) {
    const Baseline of_symbol = constant[s].baseline();
    if (s > 0 && of_symbol.score <= baselines.constant.score) continue;
    baselines.constant = of_symbol;
    best = s;
  }
  baselines.symbol = task->output_symbols()[best];
  baselines.position_only = position_only.baseline();
  if (counting) baselines.frequent_symbol = frequent.baseline();
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    baselines.lengths.push_back({.length = lengths[i],
                                 .constant = constant[best].at_length(i),
                                 .position_only = position_only.at_length(i)});
  }
  return baselines;
}

void add_trivial_baselines(ResultTable& table, BaselineUse use) {
  table.has_baselines = use == BaselineUse::kShown;
  const std::int64_t max_symbols =
      kMaxDrawnSymbols * kRowsOfOwnBound / std::max(kRowsOfOwnBound, std::ssize(table.rows));
  std::map<TaskLabel, std::vector<const TableRun*>> runs_of_task;
  for (const TableRun& run : table.runs) runs_of_task[run.task].push_back(&run);
  for_each_index(table.rows.size(), [&](std::size_t i) {
    TableRow& row = table.rows[i];
    std::vector<const TableRun*>& runs = runs_of_task.at(row.task);
    // Runs that wait or have failed say nothing about the samples of the scores that the row shows.
    const auto has_score = [](const TableRun* run) { return run->score.has_value(); };
    if (std::ranges::any_of(runs, has_score)) std::erase_if(runs, std::not_fn(has_score));
    const TableRun* const first = runs.front();
    const bool same =
        row.metric.source == Metric::Source::kAccuracy && std::ranges::all_of(runs, [&](const TableRun* run) {
          return !run->config.has_text() && run->config.is_drawn() && same_samples(*run, *first);
        });
    // The samples are those of the first run, which every column must have.
    std::map<EncodingLabel, bool> has_samples;
    for (const TableRun* const run : runs) {
      has_samples[run->encoding] |= run->config.evaluation.seed == first->config.evaluation.seed;
    }
    const bool all_have = std::ranges::all_of(has_samples, [](const auto& column) { return column.second; });
    if (same && all_have && !first->scored_lengths.empty()) {
      row.baselines = measure_trivial_baselines(
          first->config.task, first->config.evaluation,
          use == BaselineUse::kShown ? first->scored_lengths : lengths_for_marks(first->scored_lengths),
          max_symbols);
    }
  });
}

}  // namespace che
