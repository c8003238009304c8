#include "workloads/text_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/random.h"

namespace che {
namespace {

constexpr std::int64_t kValidationWindows = 64;

// Gives `batch` its sizes; every prediction counts.
void resize(SequenceBatch& batch, std::int64_t size, std::int64_t length, std::int64_t outputs) {
  batch.length = length;
  batch.size = size;
  batch.width = length;
  batch.outputs = outputs;
  batch.tokens.resize(static_cast<std::size_t>(size * length));
  batch.targets.resize(static_cast<std::size_t>(size * outputs));
  batch.mask.assign(static_cast<std::size_t>(size * outputs), 1);
  batch.windows.clear();
}

// The windows that `choose` returns, with the remedy where there are too few.
template <class Choose>
std::vector<EvaluationWindow> windows_or(const Choose& choose, std::string_view remedy) {
  try {
    return choose();
  } catch (const Error& error) {
    throw Error(fmt::format("{}; {}", error.what(), remedy), error.kind());
  }
}

}  // namespace

const Corpus& TextWorkload::corpus() const {
  const std::scoped_lock lock(mutex_);
  if (corpus_ != nullptr) return *corpus_;
  const std::filesystem::path folder = corpus_folder(batches_.text.corpus);
  const CorpusCard card = read_corpus_card(folder);
  if (card.hash() != batches_.text.hash || card.name != batches_.text.name) {
    throw Error(fmt::format("the corpus in {} is {} of hash {}, and the run is about {} of hash {}; {}",
                            folder.string(), card.name, card.hash(), batches_.text.name, batches_.text.hash,
                            card.hash() == batches_.text.hash
                                ? "draws depend on the name: make the corpus with that --name"
                                : "put that corpus back, or run the config anew in another results folder"));
  }
  corpus_ = Corpus::open(folder);
  return *corpus_;
}

const TrainingWindows& TextWorkload::training_windows(std::int64_t length) const {
  const Corpus& of = corpus();
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<TrainingWindows>& windows = by_length_[length];
  if (windows == nullptr) {
    windows = std::make_unique<TrainingWindows>(of, length, batches_.text.documents,
                                                keyed(batches_.training.data_seed));
  }
  return *windows;
}

double TextWorkload::training_bytes() const {
  if (batches_.text.documents != DocumentUse::kSeparate) return 0;
  const std::int64_t lengths = batches_.training.last_length - batches_.training.first_length + 1;
  return static_cast<double>(lengths) * static_cast<double>(corpus().documents_of(TextPart::kTrain).count) *
         TrainingWindows::kSpanBytes;
}

std::uint64_t TextWorkload::keyed(std::uint64_t seed) const { return keyed_seed(seed, batches_.text.name); }

Vocabulary TextWorkload::vocabulary() const {
  const std::int64_t ids = corpus().card().vocabulary;
  return {.tokens = ids, .classes = ids};
}

void TextWorkload::training_batch(std::int64_t step, SequenceBatch& batch) const {
  const std::int64_t length = training_length(batches_.training, batches_.text.name, step);
  resize(batch, batches_.training.batch_size, length, length);
  const TrainingWindows& windows = training_windows(length);
  for (std::int64_t row = 0; row < batch.size; ++row) {
    set_row(corpus(), windows.first_token(step * batch.size + row), row, batch);
  }
}

std::vector<EvaluationWindow> TextWorkload::windows(std::int64_t length) const {
  const Corpus& of = corpus();
  const TextPart part = batches_.evaluation.part;
  if (of.documents_of(part).count == 0) {
    throw Error(fmt::format(
        "the {} part of {} has no documents; take another part, or make the corpus with another --split",
        text_part_names()[static_cast<std::size_t>(part)], of.card().name));
  }
  const std::uint64_t seed = keyed(static_cast<std::uint64_t>(batches_.evaluation_seed));
  const bool are_in_documents = batches_.evaluation.protocol == TextProtocol::kSliding ||
                                batches_.evaluation.windows == WindowChoice::kAligned;
  if (are_in_documents && length > batches_.evaluation.longest) {
    throw Error(fmt::format(
        "windows of {} tokens are longer than evaluation.longest, {}; raise it, or set it to auto", length,
        batches_.evaluation.longest));
  }
  if (batches_.evaluation.protocol == TextProtocol::kSliding) {
    return windows_or(
        [&] {
          return sliding_windows(of, part, batches_.evaluation.longest, batches_.evaluation.stride,
                                 batches_.evaluation_samples, seed);
        },
        "lower evaluation.samples, evaluation.stride or the test lengths, or take another part");
  }
  if (batches_.evaluation.windows == WindowChoice::kPacked) {
    return windows_or([&] { return packed_windows(of, part, length, batches_.evaluation_samples, seed); },
                      "lower evaluation.samples, test at shorter lengths, or take another part");
  }
  const std::vector<EvaluationWindow> chosen = windows_or(
      [&] {
        return aligned_windows(of, part, batches_.evaluation.longest, batches_.evaluation_samples, seed);
      },
      "lower evaluation.samples, test at shorter lengths, take another part, or set "
      "evaluation.windows to packed");
  if (batches_.evaluation.protocol != TextProtocol::kFull) return chosen;
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    if (chosen[i].document == chosen[i - 1].document && chosen[i].end - chosen[i - 1].end < length) {
      throw Error(fmt::format(
          "{} aligned windows of {} tokens overlap in {}, and protocol full counts no token twice; lower "
          "evaluation.samples or the lengths, or set evaluation.windows to packed",
          chosen.size(), length, of.card().name));
    }
  }
  return chosen;
}

void TextWorkload::evaluation_batch(std::int64_t length, std::int64_t first, std::int64_t count,
                                    SequenceBatch& batch) const {
  std::int64_t outputs = length;
  if (batches_.evaluation.protocol == TextProtocol::kLast)
    outputs = std::min(batches_.evaluation.last, length);
  if (batches_.evaluation.protocol == TextProtocol::kSliding)
    outputs = std::min(batches_.evaluation.stride, length);
  resize(batch, count, length, outputs);
  set_evaluation_rows(windows(length), first, count, batch);
}

bool TextWorkload::validation_batch(SequenceBatch& batch) const {
  const std::int64_t length = batches_.training.last_length;
  resize(batch, kValidationWindows, length, length);
  const std::vector<EvaluationWindow> chosen = windows_or(
      [&] { return aligned_windows(corpus(), TextPart::kValidation, length, kValidationWindows, keyed(0)); },
      "lower training.last_length, set log.validation_steps to 0, or make the validation part longer");
  set_evaluation_rows(chosen, 0, kValidationWindows, batch);
  return true;
}

void TextWorkload::set_evaluation_rows(const std::vector<EvaluationWindow>& chosen, std::int64_t first,
                                       std::int64_t count, SequenceBatch& batch) const {
  batch.windows.assign(chosen.begin() + first, chosen.begin() + first + count);
  for (std::int64_t row = 0; row < count; ++row) {
    set_row(corpus(), batch.windows[static_cast<std::size_t>(row)].end - batch.width - 1, row, batch);
  }
}

void TextWorkload::set_row(const Corpus& from, std::int64_t first_token, std::int64_t row,
                           SequenceBatch& batch) const {
  from.copy_tokens(first_token, batch.width, batch.tokens.data() + row * batch.width);
  from.copy_tokens(first_token + 1 + batch.width - batch.outputs, batch.outputs,
                   batch.targets.data() + row * batch.outputs);
}

}  // namespace che
