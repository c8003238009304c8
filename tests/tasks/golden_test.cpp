// Samples that a person can check, and that must never change: they are what models are trained on.
// CHE_UPDATE_GOLDEN=1 rewrites the files.
#include <gtest/gtest.h>

#include <fstream>

#include "tasks/symbols.h"
#include "tests/golden_file.h"
#include "tests/tasks/every_task.h"

namespace che {
namespace {

class TaskGolden : public EveryTask {
 protected:
  std::string samples() const {
    std::string text;
    for (const std::int64_t length : {1, 2, 3, 4, 5, 8, 13, 40}) {
      const BatchKey key{.seed = 0, .purpose = Purpose::kData, .step = static_cast<std::uint64_t>(length)};
      const Batch batch = batch_of(*task_, key, length, 4);
      text += "# length " + std::to_string(length) + "\n";
      for (std::int64_t row = 0; row < batch.size; ++row) text += text_form(*task_, batch, row) + "\n";
    }
    return text;
  }
};

TEST_P(TaskGolden, DrawsTheSamplesOfTheGoldenFile) { expect_golden("tasks/" + name() + ".txt", samples()); }

// The examples at the top of a task's source file, lines "//   input -> output".
TEST_P(TaskGolden, TheExamplesOfItsSourceFileAreTrue) {
  const TaskEntry& entry = Registry<TaskEntry>::instance().get(name());
  const std::filesystem::path path = std::filesystem::path(CHE_SOURCE_DIR) / "tasks" /
                                     std::string(level_name(entry.level)) / (name() + ".cpp");
  std::ifstream file(path);
  ASSERT_TRUE(file) << "cannot read " << path;
  if (!has_oracle(name())) GTEST_SKIP() << name() << " has no oracle";
  int examples = 0;
  for (std::string line; std::getline(file, line) && line.starts_with("//");) {
    if (!line.starts_with("//   ")) continue;
    ++examples;
    const std::string text = line.substr(5);
    Symbols input;
    for (const char symbol : text.substr(0, text.find(" -> "))) {
      input.push_back(static_cast<int>(task_->input_symbols().find(symbol)));
    }
    const Answer answer = oracle(name(), static_cast<std::int64_t>(input.size()), input);
    const auto bytes = [](const Symbols& symbols) {
      return std::vector<std::uint8_t>(symbols.begin(), symbols.end());
    };
    EXPECT_EQ(text, text_form(*task_, bytes(input), bytes(answer.output), bytes(answer.mask)));
  }
  EXPECT_GE(examples, 2);
}

INSTANTIATE_TEST_SUITE_P(Registry, TaskGolden, registered_tasks(), task_test_name);

}  // namespace
}  // namespace che
