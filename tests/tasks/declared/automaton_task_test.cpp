#include "tasks/declared/automaton_task.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/text.h"
#include "tasks/symbols.h"
#include "tests/message_of.h"
#include "tests/tasks/declared/small_definition.h"
#include "tests/tasks/every_task.h"

namespace che {
namespace {

using testing::HasSubstr;

// The answers to every string of the length.
std::vector<Bytes> all_answers(const AutomatonTask& task, std::size_t length) {
  std::vector<Bytes> answers;
  const std::size_t symbols = task.input_symbols().size();
  Bytes input(length, 0);
  while (true) {
    Bytes output(static_cast<std::size_t>(task.output_length(static_cast<std::int64_t>(length))));
    task.answer(input, output);
    answers.push_back(output);
    std::size_t at = 0;
    while (at < length && ++input[at] == symbols) input[at++] = 0;
    if (at == length) return answers;
  }
}

// The accuracy of the best constant answer to every string of the length once.
double enumerated_chance(const AutomatonTask& task, std::size_t length) {
  std::map<std::uint8_t, double> counts;
  double all = 0;
  for (const Bytes& output : all_answers(task, length)) {
    for (const std::uint8_t symbol : output) ++counts[symbol];
    all += static_cast<double>(output.size());
  }
  double best = 0;
  for (const auto& [symbol, count] : counts) best = std::max(best, count / all);
  return best;
}

constexpr std::string_view kCounter = "0 1 a x\n0 0 b y\n1 2 a x\n1 1 b x\n2 0 a y\n2 2 b y\n";

TEST(AutomatonTask, AnswersAsItsDefinitionSays) {
  const auto answer = [](const std::string& kind, std::string_view automaton, const std::string& outputs) {
    const AutomatonTask task(small_definition(automaton, "answer: " + kind + "\n" + outputs));
    Bytes output(static_cast<std::size_t>(task.output_length(4)));
    task.answer(Bytes{0, 0, 1, 0}, output);
    std::string text;
    for (const std::uint8_t symbol : output) text += task.output_symbols()[symbol];
    return text;
  };
  EXPECT_EQ(answer("accept", kNoThree, ""), "1");
  EXPECT_EQ(answer("accept", "0 1 a\n1 0 a\n0 0 b\n1 1 b\n0\n", ""), "0") << "three a";
  EXPECT_EQ(answer("states", kNoThree, ""), "1201");
  EXPECT_EQ(answer("states", kNoThree, "outputs: [p, q, r, s]\n"), "qrpq") << "s is the sink";
  EXPECT_EQ(answer("last_state", kNoThree, ""), "1");
  EXPECT_EQ(answer("output", kCounter, "outputs: [x, y]\n"), "xxyy");
  EXPECT_EQ(answer("last_output", kCounter, "outputs: [x, y]\n"), "y");
  const std::string_view printed = "0 1 a 0\n1 0 a 0.0\n0 0 b 0\n1 1 b\n0 0\n";
  EXPECT_EQ(answer("accept", printed, ""), "0") << "OpenFST prints an acceptor's weights so";
}

TEST(AutomatonTask, HasTheChanceOfEnumeratedInputs) {
  const std::vector<std::pair<std::string_view, std::string>> cases = {
      {kNoThree, "answer: accept\n"},
      {kNoThree, "answer: last_state\n"},
      {kNoThree, "answer: states\n"},
      {kCounter, "answer: output\noutputs: [x, y]\n"},
      {kCounter, "answer: last_output\noutputs: [x, y]\n"}};
  for (const auto& [automaton, more] : cases) {
    const AutomatonTask task(small_definition(automaton, more));
    for (const std::size_t length : {7U, 1U, 2U, 3U, 10U}) {
      EXPECT_NEAR(task.chance_at(static_cast<std::int64_t>(length)), enumerated_chance(task, length), 1e-12)
          << more << length;
    }
  }
  const AutomatonTask balanced(small_definition(kNoThree, "answer: accept\nsample: balanced\n"));
  EXPECT_EQ(balanced.chance_at(10), 0.5);
}

TEST(AutomatonTask, HasTheChanceOfWalks) {
  // From 0 both symbols, from 1 only b: the chain's states have probabilities 2/3 and 1/3 in the end.
  const AutomatonTask task(small_definition("0 1 a\n0 0 b\n1 0 b\n", "answer: last_state\nsample: walk\n"));
  EXPECT_DOUBLE_EQ(task.chance_at(1), 0.5);
  EXPECT_DOUBLE_EQ(task.chance_at(2), 0.75);
  EXPECT_NEAR(task.chance_at(100), 2.0 / 3, 1e-12);
}

TEST(AutomatonTask, WalksAlongTransitionsOnly) {
  const auto task =
      make_task(small_definition("0 1 a\n0 0 b\n1 0 b\n", "answer: last_state\nsample: walk\n"));
  const Batch batch = batch_of(*task, BatchKey{.seed = 5}, 60, 400);
  std::map<std::pair<int, int>, int> pairs;
  for (std::int64_t row = 0; row < batch.size; ++row) {
    const Bytes input = bytes_of(batch.input, 60, row);
    for (std::size_t i = 0; i + 1 < input.size(); ++i) ++pairs[{input[i], input[i + 1]}];
  }
  EXPECT_FALSE(pairs.contains({0, 0})) << "a after a has no transition";
  EXPECT_EQ(pairs.size(), 3U);
}

TEST(AutomatonTask, DrawsUniformSymbols) {
  const auto task = make_task(small_definition(kNoThree));
  const Batch batch = batch_of(*task, BatchKey{.seed = 5}, 100, 1'000);
  const auto ones = static_cast<double>(std::ranges::count(batch.input, 1));
  EXPECT_NEAR(ones / 100'000, 0.5, 6 * 0.5 / std::sqrt(100'000));
}

TEST(AutomatonTask, BalancesAcceptedAndRejectedInputs) {
  const auto task = make_task(small_definition(kNoThree, "answer: accept\nsample: balanced\n"));
  for (const std::int64_t length : {3, 40, 500, 10'000}) {
    const std::int64_t rows = length > 500 ? 200 : 2'000;
    const Batch batch = batch_of(*task, BatchKey{.seed = 5}, length, rows);
    const auto accepted = static_cast<double>(std::ranges::count(batch.output, 1));
    const auto count = static_cast<double>(rows);
    EXPECT_NEAR(accepted / count, 0.5, 6 * 0.5 / std::sqrt(count)) << length;
  }
}

// Tasks of one definition share their counts.
TEST(AutomatonTask, BalancesEachOfSeveralDefinitions) {
  const auto inputs = [](std::string_view automaton) {
    const auto task = make_task(small_definition(automaton, "answer: accept\nsample: balanced\n"));
    return batch_of(*task, BatchKey{.seed = 5}, 12, 50).input;
  };
  const char* const ends_in_a = "0 1 a\n0 0 b\n1 1 a\n1 0 b\n1\n";
  const auto first = inputs(kNoThree);
  const auto other = inputs(ends_in_a);
  EXPECT_NE(first, other);
  EXPECT_EQ(inputs(ends_in_a), other);
  EXPECT_EQ(inputs(kNoThree), first);
}

TEST(AutomatonTask, ShortensBalancedSamplesToLengthsOfBothKinds) {
  // Repetitions of ab.
  const auto task = make_task(small_definition("0 1 a\n1 0 b\n0\n", "answer: accept\nsample: balanced\n"));
  EXPECT_EQ(task->input_length(8), 8);
  EXPECT_EQ(task->input_length(9), 8);
  const Batch batch = batch_of(*task, BatchKey{.seed = 5}, 9, 50);
  EXPECT_EQ(batch.input_length, 8);
  EXPECT_GT(std::ranges::count(batch.output, 1), 5);
  EXPECT_GT(std::ranges::count(batch.output, 0), 5);
  EXPECT_THAT(message_of([&] { check_length(*task, 1); }), HasSubstr("allowed: lengths from 2"));
  EXPECT_EQ(message_of([&] { check_length(*task, 2); }), "(no error)");
}

TEST(AutomatonTask, KnowsWithoutCountingWhichLengthsHaveBothKinds) {
  for (const std::string_view text : {kNoThree, std::string_view("0 1 a\n1 0 b\n0\n"),
                                      std::string_view("0 1 a\n0 1 b\n1 0 a\n1 0 b\n0\n")}) {
    const BalancedCounts counts(small_definition(text).automaton);
    for (std::int64_t length = 1; length < 12; ++length) {
      EXPECT_EQ(!counts.accepted.count(length).is_zero() && !counts.rejected.count(length).is_zero(),
                counts.longest_with_both(length) == length)
          << text << length;
    }
  }
}

TEST(AutomatonTask, RefusesLengthsWithoutBalancedSamples) {
  // Of even length: every length is accepted whole or not at all.
  const auto task =
      make_task(small_definition("0 1 a\n0 1 b\n1 0 a\n1 0 b\n0\n", "answer: accept\nsample: balanced\n"));
  EXPECT_THAT(message_of([&] { check_length(*task, 40); }),
              HasSubstr("small: has no balanced samples of length 40"));
  // Long samples of a finite language would all be short strings, whatever the number of states.
  std::string finite = "0 1 a\n1 2 b\n2\n0 3 b\n";
  for (int i = 3; i < 300; ++i) finite += fmt::format("{} {} a\n{} {} b\n", i, i + 1, i, i + 1);
  for (const std::string& text : {std::string("0 1 a\n1 2 b\n2\n"), finite}) {
    const auto of_finite = make_task(small_definition(text, "answer: accept\nsample: balanced\n"));
    EXPECT_EQ(message_of([&] { check_length(*of_finite, 2); }), "(no error)");
    for (const std::int64_t length : {3, 40}) {
      EXPECT_THAT(message_of([&] { check_length(*of_finite, length); }),
                  HasSubstr(fmt::format("no balanced samples of length {}: beyond 2", length)));
    }
  }
  const auto large = make_task(small_definition(kNoThree, "answer: accept\nsample: balanced\n"));
  EXPECT_EQ(message_of([&] { check_length(*large, 10'000); }), "(no error)");
  std::string cycle;
  for (int i = 0; i < 839; ++i) cycle += fmt::format("{0} {1} a\n{0} {0} b\n", i, (i + 1) % 839);
  const auto too_large = make_task(small_definition(cycle + "0\n", "answer: accept\nsample: balanced\n"));
  EXPECT_THAT(message_of([&] { check_length(*too_large, 10'000); }),
              HasSubstr("need too many counts; allowed with 839 states and 2 symbols: up to 9997"));
}

TEST(AutomatonTask, DoesNotDependOnTheSplitOfTheBatch) {
  for (const std::string sample : {"uniform", "balanced", "walk"}) {
    const std::string answer = sample == "walk" ? "last_state" : "accept";
    const auto task =
        make_task(small_definition(kNoThree, "answer: " + answer + "\nsample: " + sample + "\n"));
    BatchKey key{.seed = 3, .purpose = Purpose::kData, .step = 7};
    const Batch whole = batch_of(*task, key, 30, 600);
    Batch joined;
    for (const std::int64_t size : {1, 0, 499, 63, 37}) {
      const Batch part = batch_of(*task, key, 30, size);
      joined.input.insert(joined.input.end(), part.input.begin(), part.input.end());
      joined.output.insert(joined.output.end(), part.output.begin(), part.output.end());
      key.first_example += static_cast<std::uint64_t>(size);
    }
    EXPECT_EQ(whole.input, joined.input) << sample;
    EXPECT_EQ(whole.output, joined.output) << sample;
  }
}

TEST(AutomatonTask, DrawsByItsContent) {
  const auto inputs = [](const TaskDefinition& definition) {
    return batch_of(*make_task(definition), BatchKey{.seed = 3}, 40, 20).input;
  };
  const TaskDefinition one = small_definition("0 1 a\n0 0 b\n1 2 a\n1 0 b\n2 0 b\n0\n1\n2\n");
  const TaskDefinition reordered = small_definition("0 0 b\n2\n0 1 a\n1\n1 0 b\n2 0 b\n1 2 a\n0\n");
  const TaskDefinition other = small_definition("0 1 a\n0 0 b\n1 2 a\n1 0 b\n2 0 b\n0\n1\n");
  EXPECT_EQ(one.canonical(), reordered.canonical());
  EXPECT_EQ(inputs(one), inputs(reordered));
  EXPECT_NE(definition_digest(one.canonical()), definition_digest(other.canonical()));
  EXPECT_NE(inputs(one), inputs(other));
}

TEST(AutomatonTask, MultipliesInItsGroup) {
  const AutomatonTask task(
      parse_task_definition("name: s3_walk\ngroup: S3\ngenerators: [213, 132]\nsymbols: [s, t]\nanswer: "
                            "states\noutputs: [e, u, v, w, x, y]\n",
                            "s3"));
  // 123 132 213 231 312 321 are e u v w x y.
  Bytes output(3);
  task.answer(Bytes{0, 1, 0}, output);
  EXPECT_EQ(output, (Bytes{2, 4, 5})) << "213, then 312, then 321";
}

TEST(AutomatonTask, ShowsManySymbolsAsCharacters) {
  const auto task =
      make_task(parse_task_definition("name: s5_all\ngroup: S5\ngenerators: all\nanswer: states\n", "s5"));
  EXPECT_EQ(task->input_symbols().size(), 120U);
  EXPECT_EQ(task->output_symbols().size(), 120U);
  const Batch batch = batch_of(*task, BatchKey{.seed = 1}, 200, 1);
  const std::string text = text_form(*task, batch, 0);
  EXPECT_GT(text.size(), 404U) << "symbols beyond ASCII take two bytes";
  EXPECT_EQ(character_count(text), 404U);
}

}  // namespace
}  // namespace che
