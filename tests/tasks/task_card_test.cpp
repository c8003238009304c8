#include <gtest/gtest.h>

#include "core/text.h"
#include "tasks/task.h"
#include "tests/contains.h"
#include "tests/tasks/every_task.h"

namespace che {
namespace {

class TaskCards : public EveryTask {};

TEST_P(TaskCards, SayWhereTheTaskIsFromAndWhatItsVersionsAre) {
  const TaskEntry& entry = Registry<TaskEntry>::instance().get(name());
  EXPECT_TRUE(contains(entry.source, "arXiv "));
  EXPECT_TRUE(entry.bibtex.starts_with("@"));
  EXPECT_FALSE(entry.pitfalls.empty());
  EXPECT_EQ(static_cast<std::size_t>(entry.version), entry.changes.size()) << "one line for each version";
  for (const std::string& pitfall : entry.pitfalls) EXPECT_EQ(pitfall, one_line(pitfall, kWholeText));
}

INSTANTIATE_TEST_SUITE_P(Registry, TaskCards, registered_tasks(), task_test_name);

}  // namespace
}  // namespace che
