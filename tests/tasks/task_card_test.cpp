#include "tasks/task_card.h"

#include <gtest/gtest.h>

#include "core/text.h"
#include "tests/contains.h"
#include "tests/tasks/every_task.h"

namespace che {
namespace {

class TaskCards : public EveryTask {};

TEST_P(TaskCards, SayWhereTheTaskIsFromAndWhatItsVersionsAre) {
  const TaskCard& card = task_card(name());
  EXPECT_TRUE(contains(card.source, "arXiv "));
  EXPECT_TRUE(card.bibtex.starts_with("@"));
  EXPECT_FALSE(card.pitfalls.empty());
  const auto version = static_cast<std::size_t>(Registry<TaskEntry>::instance().get(name()).version);
  EXPECT_EQ(version, card.changes.size()) << "one line for each version";
  for (const std::string& pitfall : card.pitfalls) EXPECT_EQ(pitfall, one_line(pitfall, kWholeText));
}

INSTANTIATE_TEST_SUITE_P(Registry, TaskCards, registered_tasks(), task_test_name);

}  // namespace
}  // namespace che
