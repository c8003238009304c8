// Windows of training and evaluation, and the batches of the workload that they become.
#include "texts/windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "core/files.h"
#include "core/hashes.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"
#include "texts/corpus_maker.h"
#include "workloads/text_workload.h"

namespace che {
namespace {

const Corpus& austen() {
  static const auto corpus = Corpus::open(CHE_SOURCE_DIR "/data/text/austen");
  return *corpus;
}

TEST(KeyedPermutation, IsAPermutationThatTheKeyDecidesOn) {
  for (const std::int64_t size : {1, 2, 3, 64, 1000}) {
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t to = KeyedPermutation(size, 7, 3).at(i);
      EXPECT_TRUE(to >= 0 && to < size);
      seen.insert(to);
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(size));
  }
  const auto first = [](std::uint64_t seed, std::uint64_t epoch) {
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < 20; ++i) places.push_back(KeyedPermutation(1000, seed, epoch).at(i));
    return places;
  };
  EXPECT_NE(first(7, 3), first(7, 4));
  EXPECT_NE(first(7, 3), first(8, 3));
}

// Every place of 0 .. 5 holds every value about equally often: a chi-square with 25 degrees of freedom.
TEST(KeyedPermutation, IsUniform) {
  constexpr std::int64_t kSize = 6;
  constexpr int kEpochs = 6000;
  std::array<std::array<int, kSize>, kSize> counts{};
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (std::int64_t i = 0; i < kSize; ++i) {
      ++counts[static_cast<std::size_t>(i)]
              [static_cast<std::size_t>(KeyedPermutation(kSize, 1, static_cast<std::uint64_t>(epoch)).at(i))];
    }
  }
  double chi_square = 0;
  for (const auto& row : counts) {
    for (const int count : row) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  }
  EXPECT_LT(chi_square, 60);  // Exceeded with a probability of 1e-4.
}

// In an epoch each token of the train part but a chunk's worth at both ends is a target once.
TEST(TrainingWindows, CoverThePartOnceAnEpoch) {
  constexpr std::int64_t kLength = 4096;
  const TrainingWindows windows(austen(), kLength, DocumentUse::kPacked, 5);
  const TextSpan part = austen().tokens_of(TextPart::kTrain);
  std::set<std::int64_t> starts;
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    std::set<std::int64_t> firsts;
    for (std::int64_t i = 0; i < windows.count(); ++i) {
      const std::int64_t first = windows.first_token(epoch * windows.count() + i);
      EXPECT_TRUE(first >= part.first && first + kLength < part.end());
      firsts.insert(first);
    }
    ASSERT_EQ(firsts.size(), static_cast<std::size_t>(windows.count()));
    EXPECT_EQ(*firsts.rbegin() - *firsts.begin(), (windows.count() - 1) * kLength);
    EXPECT_LT(*firsts.begin(), kLength);
    starts.insert(*firsts.begin());
  }
  EXPECT_EQ(starts.size(), 2U);
  EXPECT_GE(windows.count() * kLength, part.count - 2 * kLength);
}

TEST(TrainingWindows, LieWithinDocumentsIfSeparate) {
  constexpr std::int64_t kLength = 100'000;
  const TrainingWindows windows(austen(), kLength, DocumentUse::kSeparate, 5);
  EXPECT_EQ(windows.count(), 8 + 8 + 6 + 6);
  for (std::int64_t i = 0; i < 2 * windows.count(); ++i) {
    const std::int64_t first = windows.first_token(i);
    const bool is_within = [&] {
      for (std::int64_t d = 0; d < 4; ++d) {
        const TextSpan document = austen().document(d);
        if (first >= document.first && first + kLength < document.end()) return true;
      }
      return false;
    }();
    EXPECT_TRUE(is_within) << first;
  }
}

TEST(EvaluationWindows, AlignedOnesLieWithinADocument) {
  const auto windows = aligned_windows(austen(), TextPart::kTrain, 8192, 64, 0);
  ASSERT_EQ(windows.size(), 64U);
  std::map<std::int64_t, int> per_document;
  for (const EvaluationWindow& window : windows) {
    ++per_document[window.document];
    const TextSpan document = austen().document(window.document);
    EXPECT_TRUE(window.end - 8193 >= document.first && window.end <= document.end());
  }
  // 883, 883, 685 and 674 of 3,125 KB.
  EXPECT_EQ(per_document, (std::map<std::int64_t, int>{{0, 18}, {1, 18}, {2, 14}, {3, 14}}));
  EXPECT_NE(windows[0].end, aligned_windows(austen(), TextPart::kTrain, 8192, 64, 1)[0].end);
}

TEST(EvaluationWindows, OthersAreWhatTheirNameSays) {
  const auto packed = packed_windows(austen(), TextPart::kTest, 1000, 400, 0);
  std::set<std::int64_t> ends;
  for (const EvaluationWindow& window : packed) ends.insert(window.end);
  EXPECT_EQ(ends.size(), packed.size());
  const std::int64_t begin = austen().tokens_of(TextPart::kTest).first;
  EXPECT_TRUE(std::ranges::all_of(ends, [&](std::int64_t end) { return (end - begin - 1) % 1000 == 0; }));
  const auto sliding = sliding_windows(austen(), TextPart::kTest, 512, 256, 64, 0);
  for (std::size_t i = 1; i < sliding.size(); ++i) EXPECT_EQ(sliding[i].end - sliding[i - 1].end, 256);
}

TEST(EvaluationWindows, RefuseWhatThePartDoesNotHold) {
  expect_error(ErrorKind::kUsage, {"no document of the test part of austen", "466855"},
               [] { aligned_windows(austen(), TextPart::kTest, 500'000, 64, 0); });
  expect_error(ErrorKind::kUsage, {"has 55 windows of 466800 tokens, and its share of 64 windows is 64"},
               [] { aligned_windows(austen(), TextPart::kTest, 466'800, 64, 0); });
  expect_error(ErrorKind::kUsage, {"has 4 windows of 100000 tokens, and 64 are asked for"},
               [] { packed_windows(austen(), TextPart::kTest, 100'000, 64, 0); });
  expect_error(ErrorKind::kUsage, {"that end every 256, and 6400 are asked for"},
               [] { sliding_windows(austen(), TextPart::kTest, 512, 256, 6400, 0); });
  expect_error(ErrorKind::kUsage, {"too few for windows of 4000000"},
               [] { TrainingWindows(austen(), 4'000'000, DocumentUse::kPacked, 0); });
  expect_error(ErrorKind::kUsage,
               {"no document of the train part of austen has the 2000001 tokens", "text.documents: packed"},
               [] { TrainingWindows(austen(), 2'000'000, DocumentUse::kSeparate, 0); });
}

TextBatchSettings small_batches() {
  TextConfig text;
  text.reset(CHE_SOURCE_DIR "/data/text/austen");
  return {.text = text,
          .training = {.data_seed = 3, .batch_size = 4, .first_length = 16, .last_length = 16},
          .evaluation = {.last = 8, .stride = 4, .longest = 64},
          .evaluation_samples = 64,
          .evaluation_lengths = {16, 32, 64}};
}

// Predictions are the tokens that follow those that are read.
TEST(TextWorkload, BatchesArePartsOfTheText) {
  const TextWorkload workload(small_batches());
  SequenceBatch batch;
  workload.training_batch(0, batch);
  EXPECT_EQ(batch.outputs, 16);
  for (std::int64_t row = 0; row < batch.size; ++row) {
    for (std::int64_t i = 1; i < 16; ++i) {
      EXPECT_EQ(batch.tokens[static_cast<std::size_t>(row * 16 + i)],
                batch.targets[static_cast<std::size_t>(row * 16 + i - 1)]);
    }
  }
  // The stored models and their ids depend on these.
  const std::string bytes(reinterpret_cast<const char*>(batch.tokens.data()),
                          batch.tokens.size() * sizeof(std::int32_t));
  EXPECT_EQ(checksum("", bytes), "03f4228aafddf75a");
  SequenceBatch again;
  workload.training_batch(1, again);
  EXPECT_NE(batch.tokens, again.tokens);
  workload.training_batch(0, again);
  EXPECT_EQ(batch.tokens, again.tokens);
}

TEST(TextWorkload, EveryLengthScoresTheSameTokens) {
  const TextWorkload workload(small_batches());
  std::vector<SequenceBatch> batches(3);
  for (std::size_t i = 0; i < 3; ++i) workload.evaluation_batch(workload.lengths()[i], 0, 64, batches[i]);
  EXPECT_EQ(batches[0].outputs, 8);
  EXPECT_EQ(batches[0].targets, batches[1].targets);
  EXPECT_EQ(batches[0].targets, batches[2].targets);
  SequenceBatch validation;
  EXPECT_TRUE(workload.validation_batch(validation));
  EXPECT_EQ(validation.size, 64);
  EXPECT_NE(validation.targets, batches[0].targets);
}

TEST(TextWorkload, ProtocolsDecideOnWhatCounts) {
  const auto outputs = [](TextProtocol protocol, std::int64_t length) {
    TextBatchSettings batches = small_batches();
    batches.evaluation.protocol = protocol;
    SequenceBatch batch;
    TextWorkload(batches).evaluation_batch(length, 0, 64, batch);
    return batch.outputs;
  };
  EXPECT_EQ(outputs(TextProtocol::kLast, 64), 8);
  EXPECT_EQ(outputs(TextProtocol::kFull, 64), 64);
  EXPECT_EQ(outputs(TextProtocol::kSliding, 64), 4);
  TextBatchSettings long_ones = small_batches();
  long_ones.evaluation.protocol = TextProtocol::kFull;
  long_ones.evaluation.longest = 8192;
  SequenceBatch batch;
  expect_error(ErrorKind::kUsage, {"overlap", "packed"},
               [&] { TextWorkload(long_ones).evaluation_batch(8192, 0, 64, batch); });
}

TEST(TextWorkload, RefusesWindowsThatMayLeaveTheirDocument) {
  TextBatchSettings batches = small_batches();
  SequenceBatch batch;
  for (const TextProtocol protocol : {TextProtocol::kLast, TextProtocol::kSliding}) {
    batches.evaluation.protocol = protocol;
    expect_error(ErrorKind::kUsage, {"windows of 100000 tokens", "evaluation.longest", "auto"},
                 [&] { TextWorkload(batches).evaluation_batch(100'000, 0, 64, batch); });
  }
  const auto corpus = Corpus::open(CHE_SOURCE_DIR "/data/text/austen");
  std::int32_t token = 0;
  expect_error(ErrorKind::kUsage, {"austen", "no tokens"},
               [&] { corpus->copy_tokens(corpus->card().tokens, 1, &token); });
  expect_error(ErrorKind::kUsage, {"austen", "no tokens -1 to -1"},
               [&] { corpus->copy_tokens(-1, 1, &token); });
}

// The number of validation windows is no setting.
TEST(TextWorkload, NamesTheSettingsOfTooFewWindows) {
  TextBatchSettings batches = small_batches();
  batches.training.last_length = 433'400;
  SequenceBatch batch;
  expect_error(ErrorKind::kUsage,
               {"a document of the validation part", "its share of 64 windows is 64", "training.last_length",
                "log.validation_steps"},
               [&] { TextWorkload(batches).validation_batch(batch); });
  batches.evaluation.longest = 466'800;
  for (const WindowChoice windows : {WindowChoice::kAligned, WindowChoice::kPacked}) {
    batches.evaluation.windows = windows;
    expect_error(ErrorKind::kUsage, {"the test part of austen", "lower evaluation.samples"},
                 [&] { TextWorkload(batches).evaluation_batch(466'800, 0, 1, batch); });
  }
}

TEST(TextWorkload, RefusesAnotherCorpus) {
  TextBatchSettings batches = small_batches();
  batches.text.hash = "0123456789abcdef";
  expect_error(ErrorKind::kUsage, {"austen", "0123456789abcdef", "put that corpus back"},
               [&] { TextWorkload(batches).vocabulary(); });
  batches = small_batches();
  batches.text.name = "novels";
  expect_error(ErrorKind::kUsage, {"is austen", "is about novels", "make the corpus with that --name"},
               [&] { TextWorkload(batches).vocabulary(); });
}

// Each training length has a list of the documents that it cuts.
TEST(TextWorkload, CountsTheMemoryOfItsTrainingWindows) {
  TextBatchSettings batches = small_batches();
  batches.text.documents = DocumentUse::kSeparate;
  batches.training.first_length = batches.training.last_length = 16;
  const double one = TextWorkload(batches).training_bytes();
  EXPECT_GT(one, 0);
  batches.training.last_length = 25;
  EXPECT_DOUBLE_EQ(10 * one, TextWorkload(batches).training_bytes());
}

}  // namespace
}  // namespace che
