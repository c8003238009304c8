#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "experiments/results/read_results.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using std::string_literals::operator""s;

TEST(TaskVersions, OfATaskAreNotMixed) {
  const ScratchFolder scratch;
  RunConfig today = made_up_config("stand_in", "rope");
  ASSERT_EQ(2, today.task.version);
  RunConfig before = today;
  before.task.version = 1;
  const std::string one = store_run(scratch.path(), before, RunState::kFinished, 0.5).id();
  const std::string two = store_run(scratch.path(), today, RunState::kFinished, 0.75).id();
  store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75);
  const std::string refusal = message_of([&] { read_table({scratch.path()}); });
  for (const std::string& part :
       {"two versions of the task stand_in, whose samples differ"s, one + " has version 1"s,
        two + " has version 2"s, "allowed side by side: one version of a task"s, "--only task.version="s}) {
    expect_contains(refusal, {part});
  }
  EXPECT_EQ(refusal, message_of([&] { read_table({scratch.path()}, {}, {}, FolderRole::kEntries); }));
  for (const auto& [version, id] : {std::pair{"1", one}, std::pair{"2", two}}) {
    const ResultTable table = read_table(
        {scratch.path()}, RunChoice({.only = {"task=stand_in", std::string("task.version=") + version}}));
    ASSERT_EQ(1U, table.runs.size());
    EXPECT_EQ(id, table.runs[0].id);
  }
}

TEST(TaskVersions, OfADeclaredTaskAreNotMixed) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_declared_config(""), RunState::kFinished, 0.5);
  // Of one version: two rows.
  store_run(scratch.path(), made_up_declared_config("sample: balanced\n"), RunState::kFinished, 0.5);
  EXPECT_EQ(2U, read_table({scratch.path()}).rows.size());
  store_run(scratch.path(), made_up_declared_config("version: 2\n"), RunState::kFinished, 0.5);
  const std::string refusal = message_of([&] { read_table({scratch.path()}); });
  expect_contains(refusal, {"two versions of the task no_two", "--only 'task={file: FILE}'"});
}

}  // namespace
}  // namespace che
