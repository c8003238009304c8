#include "tasks/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/text.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/tasks/every_task.h"

namespace che {
namespace {

using testing::HasSubstr;

// The sources that register a task, tasks/LEVEL/NAME.cpp, by their names.
std::set<std::string> tasks_of_sources() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CHE_SOURCE_DIR "/tasks")) {
    if (entry.path().extension() != ".cpp") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    if (text.str().find("Registered<TaskEntry>") != std::string::npos) names.insert(entry.path().stem());
  }
  return names;
}

TEST(TaskRegistry, HoldsATaskForEachSource) {
  const std::vector<std::string> names = Registry<TaskEntry>::instance().names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), tasks_of_sources())
      << "a file is missing in CMakeLists.txt, or its name is not its task's";
}

TEST(TaskRegistry, HoldsTheBenchmarksTasksWithTheirOracles) {
  for (const char* name : {"binary_addition", "binary_multiplication", "bucket_sort", "compute_sqrt",
                           "cycle_navigation", "duplicate_string", "even_pairs", "missing_duplicate",
                           "modular_arithmetic_brackets", "modular_arithmetic_simple", "odds_first",
                           "parity_check", "reverse_string", "solve_equation", "stack_manipulation"}) {
    EXPECT_TRUE(tasks_of_sources().contains(name)) << name;
    EXPECT_TRUE(has_oracle(name)) << name;
  }
}

TEST(TaskRegistry, HasThePublishedChance) {
  // One in the number of answers. The paper does not count the terminator of binary numbers.
  for (const std::string& name : Registry<TaskEntry>::instance().names()) {
    const auto task = create_task(name);
    const std::size_t answers = task->output_symbols().size() - (task->ends_at_terminator() ? 1 : 0);
    EXPECT_EQ(Registry<TaskEntry>::instance().get(name).chance, 1 / static_cast<double>(answers)) << name;
  }
}

TEST(CreateTask, SuggestsACloseName) {
  const std::string error = message_of([] { create_task("revers_string"); });
  EXPECT_THAT(error, HasSubstr("unknown task 'revers_string'"));
  EXPECT_THAT(error, HasSubstr("did you mean 'reverse_string'?"));
  EXPECT_THAT(error, HasSubstr("bucket_sort"));
}

TEST(CreateTask, RefusesOptionsThatTheTaskLacks) {
  EXPECT_THROW(create_task("bucket_sort", {{"order", "odd_first"}}), Error);
  EXPECT_THROW(create_task("odds_first", {{"sequence", "odd_first"}}), Error);
  EXPECT_THROW(create_task("odds_first", {{"order", "sideways"}}), Error);
}

// Sizes whose product with the length is beyond 64 bits would be taken for small ones.
TEST(SampleBatch, RefusesMoreSamplesThanRandomStreamsHave) {
  Batch batch;
  for (const std::int64_t size : {std::int64_t{-1}, (std::int64_t{1} << 32) + 1, std::int64_t{1} << 48}) {
    EXPECT_THROW(sample_batch(*create_task("reverse_string"), {}, 65'536, size, batch), Error) << size;
  }
}

TEST_P(EveryTask, SaysWhereItIsFromAndWhatItsVersionsAre) {
  const TaskEntry& entry = Registry<TaskEntry>::instance().get(name());
  EXPECT_FALSE(entry.source.empty());
  EXPECT_TRUE(entry.bibtex.starts_with("@"));
  EXPECT_FALSE(entry.pitfalls.empty());
  EXPECT_EQ(static_cast<std::size_t>(entry.version), entry.changes.size()) << "one line for each version";
  for (const std::string& pitfall : entry.pitfalls) EXPECT_EQ(pitfall, one_line(pitfall, kWholeText));
}

TEST_P(EveryTask, RefusesLengthsOutOfRange) {
  for (const std::int64_t length : {std::int64_t{0}, std::int64_t{-1}, kMaxLength + 1}) {
    Batch batch;
    const std::string error = message_of([&, this] { sample_batch(*task_, BatchKey{}, length, 1, batch); });
    EXPECT_THAT(error, HasSubstr(name()));
    EXPECT_THAT(error, HasSubstr(std::to_string(length)));
  }
}

TEST_P(EveryTask, WritesEverySymbolAndNothingElse) {
  constexpr std::uint8_t kUnwritten = 0xff;
  constexpr std::size_t kMargin = 16;
  for (const std::int64_t length :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 31, 32, 33, 64, 65, 66, 128, 129, 500}) {
    const auto input_length = static_cast<std::size_t>(task_->input_length(length));
    const auto output_length = static_cast<std::size_t>(task_->output_length(length));
    for (std::uint64_t example = 0; example < 50; ++example) {
      std::vector<std::uint8_t> input(input_length + kMargin, kUnwritten);
      std::vector<std::uint8_t> output(output_length + kMargin, kUnwritten);
      RandomStream random(1, Purpose::kData, static_cast<std::uint64_t>(length), example);
      task_->sample(random, length, std::span(input).first(input_length),
                    std::span(output).first(output_length));
      const auto check = [&](const std::vector<std::uint8_t>& symbols, std::size_t written,
                             std::string_view alphabet) {
        for (std::size_t i = 0; i < symbols.size(); ++i) {
          if (i < written) {
            ASSERT_LT(symbols[i], alphabet.size()) << "length " << length << ", index " << i;
          } else {
            ASSERT_EQ(symbols[i], kUnwritten) << "length " << length << ", index " << i;
          }
        }
      };
      check(input, input_length, task_->input_symbols());
      check(output, output_length, task_->output_symbols());
    }
  }
}

TEST_P(EveryTask, HasOneCharacterForEachSymbol) {
  for (const std::string_view symbols : {task_->input_symbols(), task_->output_symbols()}) {
    EXPECT_EQ(std::set<char>(symbols.begin(), symbols.end()).size(), symbols.size());
    EXPECT_TRUE(std::all_of(symbols.begin(), symbols.end(), [](char c) { return c > ' ' && c <= '~'; }));
  }
}

bool equal(const Batch& a, const Batch& b) {
  return a.input == b.input && a.output == b.output && a.mask == b.mask;
}

TEST_P(EveryTask, DoesNotDependOnTheNumberOfThreads) {
  const BatchKey key{.seed = 3, .purpose = Purpose::kEvaluation, .step = 100};
  constexpr std::int64_t kSize = 700;
  std::vector<Batch> batches;
  for (const std::size_t threads : {1U, 2U, 4U}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    batches.push_back(batch_of(*task_, key, 100, kSize));
  }
  EXPECT_TRUE(equal(batches[0], batches[1]));
  EXPECT_TRUE(equal(batches[0], batches[2]));
}

TEST_P(EveryTask, DoesNotDependOnTheSplitOfTheBatch) {
  BatchKey key{.seed = 3, .purpose = Purpose::kData, .step = 7};
  const Batch whole = batch_of(*task_, key, 30, 600);
  Batch joined;
  for (const std::int64_t size : {1, 0, 499, 63, 37}) {
    const Batch part = batch_of(*task_, key, 30, size);
    joined.input.insert(joined.input.end(), part.input.begin(), part.input.end());
    joined.output.insert(joined.output.end(), part.output.begin(), part.output.end());
    joined.mask.insert(joined.mask.end(), part.mask.begin(), part.mask.end());
    key.first_example += static_cast<std::uint64_t>(size);
  }
  EXPECT_TRUE(equal(whole, joined));
}

TEST_P(EveryTask, ReusesABatchOfAnyShape) {
  const BatchKey key{.seed = 4};
  Batch reused = batch_of(*task_, key, 60, 40);
  for (const std::int64_t length : {5, 90, 3}) {
    sample_batch(*task_, key, length, 20, reused);
    EXPECT_TRUE(equal(reused, batch_of(*task_, key, length, 20))) << length;
    EXPECT_EQ(reused.length, length);
    EXPECT_EQ(reused.size, 20);
  }
}

TEST_P(EveryTask, DrawsOtherSamplesForAnotherKey) {
  const BatchKey key{.seed = 5, .purpose = Purpose::kData, .step = 1};
  const Batch batch = batch_of(*task_, key, 40, 20);
  const auto differs = [&](const BatchKey& other) {
    return batch_of(*task_, other, 40, 20).input != batch.input;
  };
  EXPECT_TRUE(differs({.seed = 6, .purpose = Purpose::kData, .step = 1}));
  EXPECT_TRUE(differs({.seed = 5, .purpose = Purpose::kEvaluation, .step = 1}));
  EXPECT_TRUE(differs({.seed = 5, .purpose = Purpose::kData, .step = 2}));
  EXPECT_TRUE(differs({.seed = 5, .purpose = Purpose::kData, .step = 1, .first_example = 20}));
  EXPECT_FALSE(differs(key));
}

TEST_P(EveryTask, TakesTheLargestLength) {
  const Batch batch = batch_of(*task_, BatchKey{.seed = 8}, kMaxLength, 1);
  const auto largest = [](const std::vector<std::uint8_t>& row) {
    return static_cast<std::size_t>(*std::max_element(row.begin(), row.end()));
  };
  EXPECT_EQ(static_cast<std::int64_t>(batch.input.size()), task_->input_length(kMaxLength));
  EXPECT_LT(largest(batch.input), task_->input_symbols().size());
  EXPECT_LT(largest(batch.output), task_->output_symbols().size());
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryTask, registered_tasks(), task_test_name);

TEST(CreateTask, GivesTheTraitsOfTheRegistry) {
  for (const std::string& name : Registry<TaskEntry>::instance().names()) {
    const TaskEntry& entry = Registry<TaskEntry>::instance().get(name);
    const auto task = create_task(name);
    EXPECT_EQ(task->name(), name);
    EXPECT_EQ(task->stream_key(), name);
    EXPECT_EQ(task->level(), entry.level);
    EXPECT_EQ(task->chance(), entry.chance);
  }
}

TEST(SampleBatch, KeysStreamsByTheKeyOfTheTask) {
  const auto task = [](const std::string& name, const std::string& stream_key) {
    return with_traits(create_task("reverse_string"),
                       {.name = name, .level = Level::kDcf, .chance = 0.5, .stream_key = stream_key});
  };
  const BatchKey key{.seed = 1};
  const Batch registered = batch_of(*create_task("reverse_string"), key, 50, 4);
  EXPECT_EQ(batch_of(*task("mine", "reverse_string"), key, 50, 4).input, registered.input);
  EXPECT_NE(batch_of(*task("reverse_string", "mine"), key, 50, 4).input, registered.input);
}

}  // namespace
}  // namespace che
