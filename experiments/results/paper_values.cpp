#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "experiments/published/paper_perplexities.h"
#include "experiments/results/result_table.h"

namespace che {
namespace {

// The corpus.json of a run's text, or why it is not known.
struct ReadCard {
  std::optional<CorpusCard> card = {};
  std::string problem = {};
};

ReadCard read_card(const TextConfig& text) {
  try {
    ReadCard read{.card = read_corpus_card(corpus_folder(text.corpus))};
    if (read.card->hash() == text.hash) return read;
    return {.problem = fmt::format("the corpus in {} is another one now", one_line(text.corpus, kWholeText))};
  } catch (const Error& error) {
    return {.problem = error.what()};
  }
}

std::string name_of(PaperText text) { return paper_text_names()[static_cast<std::size_t>(text)]; }

// Returns why no value of the paper may stand beside a run on this corpus, or an empty string.
std::string gap_of(const TableRun& run, const CorpusCard& card) {
  if (!card.paper) {
    return fmt::format(R"(its corpus.json does not say that it is one of the paper's texts ("paper": "{}"))",
                       fmt::join(paper_text_names(), "\" or \""));
  }
  if (!card.has_gpt2_tokens()) {
    return fmt::format("the paper's perplexities are of GPT-2's tokens, which end with {}",
                       CorpusCard::kGpt2End);
  }
  if (run.metric.source != Metric::Source::kPerplexity) return "the paper's numbers are perplexities";
  const TextEvaluation& asked = run.config.evaluation.text;
  if (asked.protocol != TextProtocol::kLast || asked.last != kPaperCounted) {
    return fmt::format("the paper's count the last {} predictions of a window", kPaperCounted);
  }
  return "";
}

// The paper's table for the training length of a run; null where there is none.
const PaperPerplexities* table_of(const RunConfig& config, PaperText text) {
  const TrainingConfig& training = config.training;
  for (const PaperPerplexities& one : paper_perplexities()) {
    if (one.text == text && training.first_length == one.trained && training.last_length == one.trained) {
      return &one;
    }
  }
  return nullptr;
}

std::string trained_in_paper(PaperText text) {
  std::vector<std::int64_t> lengths;
  for (const PaperPerplexities& one : paper_perplexities()) {
    if (one.text == text) lengths.push_back(one.trained);
  }
  return fmt::format("{}", fmt::join(lengths, " and "));
}

// The paper's value of a cell on a text, or in `gap` why there is none.
std::optional<PaperValue> value_beside(const TableRun& run, const ReadCard& read, std::string& gap) {
  if (run.config.model.kind != "decoder") return std::nullopt;
  gap = read.card ? gap_of(run, *read.card) : read.problem;
  if (!gap.empty()) return std::nullopt;
  if (const PaperPerplexities* const table = table_of(run.config, *read.card->paper)) {
    return table->value(run.config.evaluation.lengths().front(), run.config.encoding);
  }
  gap = fmt::format("its tables of {} are of models trained at {} tokens", name_of(*read.card->paper),
                    trained_in_paper(*read.card->paper));
  return std::nullopt;
}

}  // namespace

void add_paper_perplexities(ResultTable& table) {
  std::map<std::pair<std::string, std::string>, ReadCard> cards;  // By the corpus and its hash in configs.
  for (auto& [key, cell] : table.cells) {
    const TableRun& run = table.runs[cell.finished.empty() ? cell.missing.front() : cell.finished.front()];
    const RunConfig& config = run.config;
    if (!config.has_text()) continue;
    const std::pair corpus(config.text.corpus, config.text.hash);
    auto read = cards.find(corpus);
    if (read == cards.end()) read = cards.emplace(corpus, read_card(config.text)).first;
    std::string gap;
    cell.paper = value_beside(run, read->second, gap);
    if (gap.empty()) continue;
    table.paper_gaps.insert(
        fmt::format("No value of the paper stands beside {}: {}.", config.text.name, gap));
  }
}

}  // namespace che
