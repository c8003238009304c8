// The tasks of tasks/files: twins of built-in tasks, Tomita's languages, groups and brackets, against what
// they are known to be.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tasks/declared/automaton_task.h"
#include "tests/tasks/declared/small_definition.h"
#include "tests/tasks/every_task.h"

namespace che {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = CHE_SOURCE_DIR "/tasks/files";

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (is_task_file(entry.path().string())) names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

TaskDefinition definition_of(const std::string& name) { return read_task_file(kFolder / (name + ".yaml")); }

TEST(ShippedTasks, AreThese) {
  EXPECT_EQ(shipped_names(),
            (std::vector<std::string>{"a5", "cycle_navigation_group", "dyck_2_3", "even_pairs_automaton",
                                      "modular_arithmetic_simple_automaton", "parity_check_automaton", "s3",
                                      "s5", "tomita_1", "tomita_2", "tomita_3", "tomita_4", "tomita_5",
                                      "tomita_6", "tomita_7"}));
  for (const std::string& name : shipped_names()) {
    const TaskDefinition definition = definition_of(name);
    EXPECT_EQ(definition.name, name);
    EXPECT_FALSE(definition.description.empty()) << name;
    EXPECT_FALSE(definition.source.empty()) << name;
    // What a run stores is the same task.
    const TaskDefinition stored = parse_task_definition(definition.canonical(), "stored");
    EXPECT_EQ(stored.canonical(), definition.canonical()) << name;
    const BatchKey key{.seed = 2};
    const Batch batch = batch_of(*make_task(definition), key, 20, 10);
    const Batch again = batch_of(*make_task(stored), key, 20, 10);
    EXPECT_EQ(batch.input, again.input) << name;
    EXPECT_EQ(batch.output, again.output) << name;
  }
}

struct Twin {
  const char* task;
  const char* file;
};

class Twins : public testing::TestWithParam<Twin> {};

TEST_P(Twins, AnswerAsTheBuiltInTasksDo) {
  const auto built_in = create_task(GetParam().task);
  const AutomatonTask twin(definition_of(GetParam().file));
  ASSERT_EQ(twin.input_symbols(), built_in->input_symbols());
  ASSERT_EQ(twin.output_symbols(), built_in->output_symbols());
  std::int64_t compared = 0;
  std::map<std::uint8_t, int> answers;
  for (std::int64_t length = 1; length <= 500; ++length) {
    const BatchKey key{.seed = 7, .purpose = Purpose::kData, .step = static_cast<std::uint64_t>(length)};
    const Batch batch = batch_of(*built_in, key, length, 20);
    for (std::int64_t row = 0; row < batch.size; ++row) {
      const Bytes input = bytes_of(batch.input, batch.input_length, row);
      Bytes output(1);
      twin.answer(input, output);
      ASSERT_EQ(output, bytes_of(batch.output, 1, row)) << "length " << length << ", row " << row;
      ++answers[output[0]];
      ++compared;
    }
  }
  EXPECT_EQ(compared, 10'000);
  EXPECT_EQ(answers.size(), built_in->output_symbols().size()) << "every answer occurs";
}

// The twin draws what it can answer: expressions, of odd length.
TEST_P(Twins, DrawInputsOfTheBuiltInTasksKind) {
  const auto twin = make_task(definition_of(GetParam().file));
  const Batch batch = batch_of(*twin, BatchKey{.seed = 9}, 41, 300);
  for (std::int64_t row = 0; row < batch.size; ++row) {
    const Answer expected = oracle(GetParam().task, 41, row_of(batch.input, batch.input_length, row));
    ASSERT_EQ(row_of(batch.output, 1, row), expected.output) << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Regular, Twins,
                         testing::Values(Twin{"even_pairs", "even_pairs_automaton"},
                                         Twin{"parity_check", "parity_check_automaton"},
                                         Twin{"cycle_navigation", "cycle_navigation_group"},
                                         Twin{"modular_arithmetic_simple",
                                              "modular_arithmetic_simple_automaton"}),
                         [](const auto& twin) { return std::string(twin.param.task); });

// Lengths of the runs of equal symbols, with the symbol.
std::vector<std::pair<char, int>> runs_of(const std::string& text) {
  std::vector<std::pair<char, int>> runs;
  for (const char c : text) {
    if (runs.empty() || runs.back().first != c) runs.emplace_back(c, 0);
    ++runs.back().second;
  }
  return runs;
}

// Tomita's languages by their definition.
bool is_in_tomita(int number, const std::string& text) {
  const auto zeros = std::ranges::count(text, '0');
  const auto ones = std::ranges::count(text, '1');
  const auto runs = runs_of(text);
  switch (number) {
    case 1:
      return zeros == 0;
    case 2:
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != (i % 2 == 0 ? '1' : '0')) return false;
      }
      return text.size() % 2 == 0;
    case 3:
      for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
        if (runs[i].first == '1' && runs[i].second % 2 == 1 && runs[i + 1].second % 2 == 1) return false;
      }
      return true;
    case 4:
      return text.find("000") == std::string::npos;
    case 5:
      return zeros % 2 == 0 && ones % 2 == 0;
    case 6:
      return (zeros - ones) % 3 == 0;
    default:
      return runs.size() <= (!runs.empty() && runs[0].first == '1' ? 3U : 4U);
  }
}

class Tomita : public testing::TestWithParam<int> {};

TEST_P(Tomita, AcceptsItsLanguage) {
  const AutomatonTask task(definition_of("tomita_" + std::to_string(GetParam())));
  int accepted = 0;
  for (unsigned length = 1; length <= 12; ++length) {
    for (unsigned bits = 0; bits < (1U << length); ++bits) {
      std::string text;
      Bytes input;
      for (unsigned i = 0; i < length; ++i) {
        input.push_back(static_cast<std::uint8_t>(bits >> i & 1U));
        text += static_cast<char>('0' + input.back());
      }
      Bytes output(1);
      task.answer(input, output);
      ASSERT_EQ(output[0] == 1, is_in_tomita(GetParam(), text)) << text;
      accepted += output[0];
    }
  }
  EXPECT_GT(accepted, 0);
}

INSTANTIATE_TEST_SUITE_P(Languages, Tomita, testing::Range(1, 8));

// Whether the brackets match, three deep at most.
bool is_balanced(const std::string& text) {
  std::string open;
  for (const char c : text) {
    if (c == '(' || c == '[') {
      open += c;
      if (open.size() > 3) return false;
      continue;
    }
    if (open.empty() || open.back() != (c == ')' ? '(' : '[')) return false;
    open.pop_back();
  }
  return open.empty();
}

TEST(Dyck, AcceptsBalancedBracketsOfBoundedDepth) {
  const auto task = make_task(definition_of("dyck_2_3"));
  const auto& automaton = dynamic_cast<const AutomatonTask&>(*task);
  int accepted = 0;
  for (const std::int64_t length : {2, 4, 8, 20, 40}) {
    const Batch batch = batch_of(*task, BatchKey{.seed = 4}, length, 1'000);
    for (std::int64_t row = 0; row < batch.size; ++row) {
      std::string text;
      for (const std::uint8_t symbol : bytes_of(batch.input, batch.input_length, row)) {
        text += task->input_symbols()[symbol];
      }
      ASSERT_EQ(batch.output[static_cast<std::size_t>(row)] == 1, is_balanced(text)) << text;
      accepted += batch.output[static_cast<std::size_t>(row)];
    }
  }
  EXPECT_GT(accepted, 2'000);
  // Every string of length 6.
  for (unsigned code = 0; code < 4'096; ++code) {
    Bytes input;
    std::string text;
    for (unsigned i = 0; i < 6; ++i) {
      input.push_back(static_cast<std::uint8_t>(code >> 2 * i & 3U));
      text += task->input_symbols()[input.back()];
    }
    Bytes output(1);
    automaton.answer(input, output);
    ASSERT_EQ(output[0] == 1, is_balanced(text)) << text;
  }
}

// Applies permutations one after another, without a table.
void expect_products(const std::string& name, std::size_t points, std::size_t order) {
  const auto task = make_task(definition_of(name));
  ASSERT_EQ(task->output_symbols().size(), order);
  std::vector<std::string> elements;
  std::string permutation = std::string("12345").substr(0, points);
  do {
    int inversions = 0;
    for (std::size_t i = 0; i < points; ++i) {
      for (std::size_t j = i + 1; j < points; ++j) inversions += permutation[i] > permutation[j] ? 1 : 0;
    }
    if (name[0] == 's' || inversions % 2 == 0) elements.push_back(permutation);
  } while (std::ranges::next_permutation(permutation).found);
  ASSERT_EQ(elements.size(), order);
  const Batch batch = batch_of(*task, BatchKey{.seed = 4}, 50, 200);
  for (std::int64_t row = 0; row < batch.size; ++row) {
    const Bytes input = bytes_of(batch.input, 50, row);
    const Bytes output = bytes_of(batch.output, 50, row);
    std::string images = elements[0];  // Where each point is now.
    for (std::size_t i = 0; i < input.size(); ++i) {
      for (char& image : images) image = elements[input[i]][static_cast<std::size_t>(image - '1')];
      ASSERT_EQ(elements[output[i]], images) << "row " << row << ", symbol " << i;
    }
  }
}

TEST(Groups, AnswerTheProductAfterEachSymbol) {
  expect_products("s3", 3, 6);
  expect_products("s5", 5, 120);
  expect_products("a5", 5, 60);
}

}  // namespace
}  // namespace che
