// The distributions of own samples against counts over samples of the published program.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/tasks/chi_square.h"
#include "tests/tasks/every_task.h"

namespace che {
namespace {

// Probability that all tests of all tasks together raise a false alarm.
constexpr double kFalseAlarm = 1e-4;

using Row = std::span<const std::uint8_t>;

struct Sample {
  Row input;
  Row output;
  std::string text;  // The input in the task's characters.
};

// The cells that one sample adds 1 to. All of one sample's draws that share a histogram are
// independent, so that the counts suit a chi-square test.
using Cells = std::function<std::vector<std::size_t>(const Sample&)>;

std::size_t index_of(Row row, std::uint8_t symbol) {
  return static_cast<std::size_t>(std::find(row.begin(), row.end(), symbol) - row.begin());
}

std::size_t max_depth(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (const char symbol : text) {
    if (symbol == '(') deepest = std::max(deepest, ++depth);
    if (symbol == ')') --depth;
  }
  return deepest;
}

std::size_t count_of(const Sample& sample, char symbol) {
  return static_cast<std::size_t>(std::count(sample.text.begin(), sample.text.end(), symbol));
}

std::size_t count_minus(std::string_view text, bool binary) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool after_operand =
        i > 0 && (std::isdigit(text[i - 1]) || text[i - 1] == 'x' || text[i - 1] == ')');
    count += text[i] == '-' && after_operand == binary;
  }
  return count;
}

// Of `text` up to an equals sign, where there is one.
std::string_view expression(const Sample& sample) {
  return std::string_view(sample.text).substr(0, sample.text.find('='));
}

std::size_t count_digits(const Sample& sample) {
  const std::string_view text = expression(sample);
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return std::isdigit(c) || c == 'x'; }));
}

// Each symbol first .. first + size - 1, as a cell.
Cells symbols_from(std::uint8_t first, std::size_t size) {
  return [=](const Sample& sample) {
    std::vector<std::size_t> cells;
    for (const std::uint8_t symbol : sample.input) {
      if (symbol >= first && symbol < first + size) cells.push_back(symbol - first);
    }
    return cells;
  };
}

Cells value(std::function<std::size_t(const Sample&)> of) {
  return [of = std::move(of)](const Sample& sample) { return std::vector<std::size_t>{of(sample)}; };
}

const std::map<std::string, Cells>& structure_cells() {
  static const std::map<std::string, Cells> cells = {
      {"hist_max_depth", value([](const Sample& s) { return max_depth(s.text); })},
      {"hist_n_plus", value([](const Sample& s) { return count_of(s, '+'); })},
      {"hist_n_binary_minus", value([](const Sample& s) { return count_minus(s.text, true); })},
      {"hist_n_unary_minus", value([](const Sample& s) { return count_minus(s.text, false); })},
      {"hist_n_star", value([](const Sample& s) { return count_of(s, '*'); })},
      {"hist_n_digits", value(count_digits)},
      {"hist_n_open", value([](const Sample& s) { return count_of(s, '('); })},
      {"hist_x_position", value([](const Sample& s) { return s.text.find('x'); })},
      {"hist_right_hand_side", value([](const Sample& s) { return s.input.back(); })},
      {"hist_initial_stack_length", value([](const Sample& s) {
         return static_cast<std::size_t>(
             std::count_if(s.input.begin(), s.input.end(), [](std::uint8_t symbol) { return symbol < 2; }));
       })},
      {"hist_action_symbol_2_3_4", symbols_from(2, 3)},
      {"hist_terminator_index", value([](const Sample& s) { return index_of(s.output, 2); })},
      {"hist_separator_index", value([](const Sample& s) { return index_of(s.input, 2); })},
      {"hist_hole_index", value([](const Sample& s) { return index_of(s.input, 2); })},
      {"hist_leading_zeros_of_input", value([](const Sample& s) { return index_of(s.input, 1); })},
      {"hist_operator_symbol", symbols_from(5, 3)},
      {"hist_digit_symbol", symbols_from(0, 5)},
  };
  return cells;
}

// One comparison of a recorded histogram with own samples.
struct Comparison {
  std::string name;
  Histogram recorded;
  Cells cells;
  Histogram own{};
};

Comparison at_position(std::string name, const nlohmann::json& recorded, bool of_output,
                       std::size_t position) {
  return {std::move(name), recorded.get<Histogram>(), value([=](const Sample& sample) {
            return of_output ? sample.output[position] : sample.input[position];
          })};
}

std::vector<Comparison> comparisons(const nlohmann::json& recorded, const Batch& batch) {
  std::vector<Comparison> result;
  for (const bool of_output : {false, true}) {
    const std::string side = of_output ? "output" : "input";
    const auto positions = recorded.at(side + "_positions").get<std::vector<std::size_t>>();
    for (std::size_t i = 0; i < positions.size(); ++i) {
      result.push_back(at_position(side + " at " + std::to_string(positions[i]),
                                   recorded.at(side + "_counts").at(i), of_output, positions[i]));
    }
    const auto last = static_cast<std::size_t>((of_output ? batch.output_length : batch.input_length) - 1);
    result.push_back(at_position("last " + side, recorded.at(side + "_counts_last"), of_output, last));
  }
  for (const auto& [name, histogram] : recorded.at("structure").items()) {
    const auto cells = structure_cells().find(name);
    if (cells == structure_cells().end()) throw std::runtime_error("no function for " + name);
    result.push_back({name, histogram.get<Histogram>(), cells->second});
  }
  return result;
}

// Fills the own side of `comparisons` from all samples of `batch`.
void count(const Task& task, const Batch& batch, std::vector<Comparison>& comparisons) {
  const auto input_length = static_cast<std::size_t>(batch.input_length);
  const auto output_length = static_cast<std::size_t>(batch.output_length);
  for (std::size_t row = 0; row < static_cast<std::size_t>(batch.size); ++row) {
    Sample sample{std::span(batch.input).subspan(row * input_length, input_length),
                  std::span(batch.output).subspan(row * output_length, output_length),
                  {}};
    for (const std::uint8_t symbol : sample.input) sample.text += task.input_symbols()[symbol];
    for (Comparison& comparison : comparisons) {
      for (const std::size_t cell : comparison.cells(sample)) {
        if (cell >= comparison.own.size()) comparison.own.resize(cell + 1, 0);
        ++comparison.own[cell];
      }
    }
  }
}

class TaskStatistics : public EveryTask {};

TEST_P(TaskStatistics, FollowThePublishedDistribution) {
  std::ifstream file(reference_folder() / "task_stats.json");
  ASSERT_TRUE(file) << "cannot read task_stats.json in " << reference_folder();
  const auto all = nlohmann::json::parse(file);
  if (!all.contains(name())) GTEST_SKIP() << name() << ": no published program, no recorded distribution";
  ASSERT_FALSE(all.at(name()).empty());

  struct Result {
    std::string name;
    double p_value;
  };
  std::vector<Result> results;
  for (const auto& [length_text, recorded] : all.at(name()).items()) {
    const std::int64_t length = std::stoll(length_text);
    const BatchKey key{.seed = 2024, .purpose = Purpose::kData, .step = static_cast<std::uint64_t>(length)};
    const Batch batch = batch_of(*task_, key, length, recorded.at("n").get<std::int64_t>());
    EXPECT_EQ(batch.input_length, recorded.at("emitted_input_length").get<std::int64_t>());
    EXPECT_EQ(batch.output_length, recorded.at("output_length").get<std::int64_t>());
    std::vector<Comparison> compared = comparisons(recorded, batch);
    count(*task_, batch, compared);
    for (const Comparison& comparison : compared) {
      results.push_back({"length " + length_text + ", " + comparison.name,
                         homogeneity_p_value(comparison.recorded, comparison.own)});
    }
  }
  const double tests = static_cast<double>(results.size() * all.size());
  for (const Result& result : results) {
    EXPECT_GE(result.p_value, kFalseAlarm / tests) << result.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, TaskStatistics, registered_tasks(), task_test_name);

// What the recorded lengths do not reach: numbers uniform over their whole range, at lengths where
// each can be counted.
TEST(BinaryNumbers, AreUniformAtShortLengths) {
  const auto numbers = [](const std::string& name, std::int64_t length) {
    const auto task = create_task(name);
    const Batch batch = batch_of(*task, BatchKey{.seed = 9}, length, 40'000);
    Histogram counts(std::size_t{1} << length, 0);
    for (std::int64_t row = 0; row < batch.size; ++row) {
      const Symbols bits = row_of(batch.input, length, row);
      std::size_t number = 0;
      for (std::int64_t i = length; i-- > 0;) {
        number = 2 * number + static_cast<std::size_t>(bits[static_cast<std::size_t>(i)]);
      }
      ++counts[number];
    }
    return counts;
  };
  for (const std::string name : {"binary_addition", "binary_multiplication"}) {
    EXPECT_EQ(numbers(name, 1), (Histogram{40'000, 0}));
    Histogram two_bits = numbers(name, 2);
    EXPECT_EQ(two_bits.back(), 0) << name;
    two_bits.pop_back();
    EXPECT_GT(uniformity_p_value(two_bits), 1e-5) << name;
  }
  for (const std::int64_t length : {1, 2, 3, 6}) {
    Histogram radicands = numbers("compute_sqrt", length);
    EXPECT_EQ(radicands.front(), 0);
    radicands.erase(radicands.begin());
    EXPECT_GT(uniformity_p_value(radicands), 1e-5) << length;
  }
}

}  // namespace
}  // namespace che
