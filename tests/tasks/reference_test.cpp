// The samples that the published program drew, against the oracle and the promises of the tasks.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "tests/tasks/every_task.h"

namespace che {
namespace {

std::ifstream open_reference(const std::string& name) {
  const std::filesystem::path path = reference_folder() / name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return file;
}

// What is wrong with a recorded sample; empty when nothing is.
std::string mismatch(const nlohmann::json& sample) {
  const auto task_name = sample.at("task").get<std::string>();
  const auto length = sample.at("length").get<std::int64_t>();
  const auto input = sample.at("input").get<Symbols>();
  const Answer recorded{sample.at("output").get<Symbols>(), sample.at("mask").get<Symbols>()};
  const auto task = create_task(task_name);
  try {
    const Answer expected = oracle(task_name, length, input);
    if (recorded != expected) {
      return "expected output " + testing::PrintToString(expected.output) + ", mask " +
             testing::PrintToString(expected.mask);
    }
  } catch (const std::invalid_argument& reason) {
    return std::string("input out of format: ") + reason.what();
  }
  if (static_cast<std::int64_t>(input.size()) != task->input_length(length)) {
    return "the task promises an input of " + std::to_string(task->input_length(length));
  }
  if (static_cast<std::int64_t>(recorded.output.size()) != task->output_length(length)) {
    return "the task promises an output of " + std::to_string(task->output_length(length));
  }
  return "";
}

TEST(TasksReference, EveryRecordedSampleIsAsDefined) {
  std::ifstream file = open_reference("tasks.jsonl");
  std::string report;
  std::set<std::string> seen;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const auto sample = nlohmann::json::parse(line);
    seen.insert(sample.at("task").get<std::string>());
    const std::string problem = mismatch(sample);
    if (!problem.empty()) report += "line " + std::to_string(number) + ": " + problem + "; " + line + "\n";
  }
  EXPECT_EQ(report, "");
  EXPECT_FALSE(seen.empty());
}

TEST(TasksReference, LevelsAlphabetsAndLengthsAreThoseOfTheMetadata) {
  const auto metadata = nlohmann::json::parse(open_reference("tasks_meta.json"));
  EXPECT_FALSE(metadata.empty());
  for (const auto& [name, recorded] : metadata.items()) {
    SCOPED_TRACE(name);
    const auto task = create_task(name);
    EXPECT_EQ(level_name(Registry<TaskEntry>::instance().get(name).level),
              recorded.at("level").get<std::string>());
    EXPECT_EQ(task->input_symbols().size(), recorded.at("input_size").get<std::size_t>());
    EXPECT_EQ(task->output_symbols().size(), recorded.at("output_size").get<std::size_t>());
    const auto& output_lengths = recorded.at("output_length_1_to_60");
    const auto& input_lengths = recorded.at("emitted_input_length_1_to_60");
    EXPECT_EQ(output_lengths.size(), 60U);
    EXPECT_EQ(input_lengths.size(), 60U);
    std::vector<std::int64_t> promised_output;
    std::vector<std::int64_t> promised_input;
    for (std::int64_t length = 1; length <= 60; ++length) {
      promised_output.push_back(task->output_length(length));
      promised_input.push_back(task->input_length(length));
    }
    EXPECT_EQ(promised_output, output_lengths.get<std::vector<std::int64_t>>());
    EXPECT_EQ(promised_input, input_lengths.get<std::vector<std::int64_t>>());
    if (recorded.at("single_output").get<bool>()) {
      EXPECT_EQ(task->output_length(60), 1);
    }
  }
}

}  // namespace
}  // namespace che
