// Counts of a text as a predictor.
#include "texts/ngrams.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/scratch_folder.h"
#include "texts/corpus_maker.h"

namespace che {
namespace {

// "abab" and, in a part that is not counted, "zz".
TEST(Ngrams, InterpolateTheOrders) {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch.path() / "texts");
  std::ofstream(scratch.path() / "texts" / "1.txt") << "abab";
  std::ofstream(scratch.path() / "texts" / "2.txt") << "zz";
  make_corpus({.name = "x", .sources = {scratch.path() / "texts"}, .split = {1, 0, 1}},
              scratch.path() / "corpus");
  const Ngrams ngrams(*Corpus::open(scratch.path() / "corpus"), 2);
  const auto expect = [&](const std::vector<std::int32_t>& context, std::int32_t next,
                          const std::vector<double>& probabilities) {
    const std::vector<double> losses = ngrams.losses(context, next);
    ASSERT_EQ(losses.size(), probabilities.size());
    for (std::size_t k = 0; k < losses.size(); ++k) {
      EXPECT_NEAR(std::exp(-losses[k]), probabilities[k], 1e-12) << "order " << k;
    }
  };
  // Two a, two b and an end: three kinds among five. b follows each a; a and the end follow b.
  const double b = (2 + 3 / 257.0) / 8;
  const double behind_a = (2 + 1 * b) / 3;
  const double behind_ba = (1 + 1 * behind_a) / 2;
  expect({'b', 'a'}, 'b', {b, behind_a, behind_ba});
  const double end = (1 + 3 / 257.0) / 8;
  const double end_behind_b = (1 + 2 * end) / 4;
  expect({'a', 'b'}, kByteEnd, {end, end_behind_b, (1 + 2 * end_behind_b) / 4});
  // A context that never occurred, and one that is too short, have the order below.
  const double z = (3 / 257.0) / 8;
  expect({'z', 'z'}, 'z', {z, z, z});
  expect({'a'}, 'b', {b, behind_a, behind_a});
  expect({}, 'b', {b, b, b});
  double sum = 0;
  for (std::int32_t token = 0; token < 257; ++token) {
    sum += std::exp(-ngrams.losses(std::vector<std::int32_t>{'b', 'a'}, token)[2]);
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

// Perplexities that another program measured at every 23rd byte of Persuasion: 21.9 and 4.23.
TEST(Ngrams, KnowJaneAusten) {
  const auto corpus = Corpus::open(CHE_SOURCE_DIR "/data/text/austen");
  const Ngrams ngrams(*corpus, 5);
  const TextSpan test = corpus->document(corpus->documents_of(TextPart::kTest).first);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(test.count));
  corpus->copy_tokens(test.first, test.count, tokens.data());
  std::vector<double> sums(6);
  double count = 0;
  for (std::size_t i = 8192; i + 1 < tokens.size(); i += 23) {
    const std::vector<double> losses = ngrams.losses({tokens.data(), i}, tokens[i]);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += losses[k];
    ++count;
  }
  EXPECT_NEAR(std::exp(sums[0] / count), 21.9, 0.05);
  EXPECT_NEAR(std::exp(sums[2] / count), 7.29, 0.01);
  EXPECT_NEAR(std::exp(sums[5] / count), 4.23, 0.01);
}

}  // namespace
}  // namespace che
