#include "experiments/results/text_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/text.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_workload.h"
#include "texts/corpus.h"
#include "texts/ngrams.h"

namespace che {

std::vector<TextRow> text_rows(const RunConfig& config, RowsBySettings&& rows_of, const ReadingRules& rules) {
  std::vector<TextRow> result;
  std::set<std::int64_t> all_lengths;
  for (auto& [settings, rows] : rows_of) {
    std::map<std::int64_t, std::vector<EvaluationRow>> by_length;
    std::set<std::int64_t> lengths;
    if (settings == evaluation_settings(config)) {
      for (const std::int64_t length : config.evaluation.lengths()) lengths.insert(length);
    }
    for (EvaluationRow& row : rows) {
      if (has_samples_of(config.evaluation, row)) lengths.insert(row.length);
      all_lengths.insert(row.length);
      by_length[row.length].push_back(std::move(row));
    }
    RunConfig with = with_evaluation_settings(config, settings);
    with.evaluation.listed_lengths = {};  // No copy holds the whole list.
    for (const std::int64_t length : lengths) {
      all_lengths.insert(length);
      if (rules.score_lengths && !rules.score_lengths->contains(length)) continue;
      result.push_back({.config = with, .measured = std::move(by_length[length])});
      result.back().config.evaluation.listed_lengths = {length};
    }
  }
  if (result.empty() && rules.score_lengths) {
    throw Error(fmt::format("--score-lengths {}: {} has none of these test lengths; it has {}",
                            rules.score_lengths->text(), run_id(config), fmt::join(all_lengths, ", ")));
  }
  return result;
}

void check_corpora(const std::vector<RunFolder>& runs) {
  std::map<std::string, const RunFolder*> first_of;  // By the name of a corpus.
  for (const RunFolder& run : runs) {
    if (!run.config().has_text()) continue;
    const TextConfig& text = run.config().text;
    const RunFolder& first = *first_of.try_emplace(text.name, &run).first->second;
    if (first.config().text.hash == text.hash) continue;
    throw Error(fmt::format(
        "two corpora are called {}: {} has the hash {}, {} has {}; allowed side by side: one corpus "
        "of a name; train and read each in a folder of its own, or choose one with --only text.hash={}",
        text.name, first.path().string(), first.config().text.hash, run.path().string(), text.hash,
        text.hash));
  }
}

namespace {

// Predictions that n-grams are measured on, at most: strangers' runs may have billions.
constexpr std::int64_t kMostPredictions = std::int64_t{1} << 24;

// The losses of kNgramOrders on the windows of a run's one test length, mean over the windows of the mean
// over their predictions that count. Of windows with more than kMostPredictions the first count.
std::vector<double> ngram_losses(const Ngrams& ngrams, const RunConfig& config) {
  const std::unique_ptr<Workload> workload = create_workload(config);
  SequenceBatch batch;
  std::vector<double> sums(kNgramOrders.size());
  std::int64_t predictions = 0;
  // A batch at a time: all windows together may have gigabytes.
  for (std::int64_t first = 0; first < config.evaluation.samples && predictions < kMostPredictions;
       first += kEvaluationBatch) {
    workload->evaluation_batch(config.evaluation.lengths().front(), first,
                               std::min(kEvaluationBatch, config.evaluation.samples - first), batch);
    predictions += batch.size * batch.outputs;
    for (std::int64_t i = 0; i < batch.size * batch.outputs; ++i) {
      const std::int64_t seen = batch.width - batch.outputs + i % batch.outputs + 1;
      const auto* const row = batch.tokens.data() + i / batch.outputs * batch.width;
      const std::vector<double> losses =
          ngrams.losses({row, static_cast<std::size_t>(seen)}, batch.targets[static_cast<std::size_t>(i)]);
      for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += losses[kNgramOrders[n]];
    }
  }
  for (double& sum : sums) sum /= static_cast<double>(predictions);
  return sums;
}

bool have_same_windows(const RunConfig& one, const RunConfig& other) {
  return one.evaluation.samples == other.evaluation.samples && one.evaluation.seed == other.evaluation.seed &&
         evaluation_settings(one) == evaluation_settings(other);
}

}  // namespace

void add_ngrams(ResultTable& table) {
  std::map<std::string, Ngrams> of_corpus;
  for (TableRow& row : table.rows) {
    if (row.level != Level::kText) continue;
    std::vector<const RunConfig*> configs;
    for (const TableRun& run : table.runs) {
      if (run.task == row.task) configs.push_back(&run.config);
    }
    const RunConfig& first = *configs.front();
    if (!std::ranges::all_of(configs, [&](const auto* one) { return have_same_windows(*one, first); })) {
      continue;
    }
    auto ngrams = of_corpus.find(first.text.hash);
    if (ngrams == of_corpus.end()) {
      const auto corpus = Corpus::open(corpus_folder(first.text.corpus));
      ngrams = of_corpus.emplace(first.text.hash, Ngrams(*corpus, kNgramOrders.back())).first;
    }
    row.ngram_losses = ngram_losses(ngrams->second, first);
  }
  table.has_ngrams =
      std::ranges::any_of(table.rows, [](const TableRow& row) { return row.level == Level::kText; });
}

namespace {

// Aligned windows of all lengths of a config end with the same tokens. `che evaluate` moves them for a length
// beyond the longest one.
void note_other_ends(const std::vector<TableRun>& runs, std::set<std::string>& notes) {
  using Samples = std::tuple<std::string, TextPart, std::int64_t, std::int64_t>;
  std::map<Samples, std::map<std::int64_t, std::set<std::int64_t>>> lengths_of;  // By the longest length.
  for (const TableRun& run : runs) {
    const EvaluationConfig& asked = run.config.evaluation;
    if (!run.config.has_text() || asked.text.windows != WindowChoice::kAligned) continue;
    const Samples samples{run.config.text.name, asked.text.part, asked.samples, asked.seed};
    lengths_of[samples][longest_window(asked)].insert(asked.lengths().front());
  }
  for (const auto& [samples, by_longest] : lengths_of) {
    if (by_longest.size() < 2) continue;
    notes.insert(
        fmt::format("{}: the windows of a length end with the tokens of its group only, and scores "
                    "of two groups are of other tokens; groups of lengths: {}.",
                    std::get<0>(samples), joined(by_longest, ", ", [](const auto& group) {
                      return fmt::format("{{{}}}", fmt::join(group.second, ", "));
                    })));
  }
}

}  // namespace

std::vector<std::string> text_notes(const std::vector<TableRun>& runs) {
  std::set<std::string> notes;
  note_other_ends(runs, notes);
  for (const TableRun& run : runs) {
    if (!run.config.has_text()) continue;
    const EvaluationConfig& asked = run.config.evaluation;
    const std::string& part = text_part_names()[static_cast<std::size_t>(asked.text.part)];
    const char* windows = asked.text.windows == WindowChoice::kAligned ? "aligned windows" : "packed windows";
    std::string counted = "all predictions";
    if (asked.text.protocol == TextProtocol::kLast)
      counted = fmt::format("the last {} predictions", asked.text.last);
    if (asked.text.protocol == TextProtocol::kSliding) {
      windows = "windows";
      counted = fmt::format("the last {} predictions, one window's end to the next,", asked.text.stride);
    }
    notes.insert(fmt::format("{}: {} of {} {} of the {} part count.", run.config.text.name, counted,
                             asked.samples, windows, part));
    if (asked.text.protocol == TextProtocol::kLast && asked.lengths().front() < asked.text.last) {
      notes.insert(fmt::format(
          "Below a length of {} all predictions count, those with little context too, which raises "
          "the perplexity there.",
          asked.text.last));
    }
  }
  return {notes.begin(), notes.end()};
}

}  // namespace che
