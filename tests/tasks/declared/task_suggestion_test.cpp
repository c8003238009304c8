#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tasks/declared/task_definition.h"
#include "tasks/declared/task_files.h"
#include "tests/message_of.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// From the folder of the sources, where people call the program.
class TaskSuggestion : public testing::Test {
 protected:
  TaskSuggestion() { fs::current_path(CHE_SOURCE_DIR); }
  ~TaskSuggestion() override { fs::current_path(before_); }

  fs::path before_ = fs::current_path();
};

TEST_F(TaskSuggestion, NamesTheNearestFile) {
  EXPECT_EQ("tasks/files/tomita_4.yaml", closest_task_file("tasks/files/tomita4.yaml"));
  EXPECT_EQ("tasks/files/tomita_44.yaml: no such file; did you mean 'tasks/files/tomita_4.yaml'?",
            message_of([] { read_task_file("tasks/files/tomita_44.yaml"); }));
  EXPECT_EQ(CHE_SOURCE_DIR "/tasks/files/tomita_4.yaml", closest_task_file("tomita_4.yaml"))
      << "in another folder";
  EXPECT_EQ("", closest_task_file("configs/nothing_like_it.yaml"));
  EXPECT_EQ("nothing_like_it.yaml: no such file", message_of([] { read_task_file("nothing_like_it.yaml"); }));
}

TEST_F(TaskSuggestion, KnowsTheNamesOfShippedFiles) {
  EXPECT_THAT(
      message_of([] { registered_task("tomita_4"); }),
      testing::StartsWith("unknown task 'tomita_4'; did you mean 'tasks/files/tomita_4.yaml'?; known: "));
  EXPECT_THAT(message_of([] { registered_task("tomita_44"); }),
              testing::HasSubstr("did you mean 'tasks/files/tomita_4.yaml'?"));
  EXPECT_THAT(message_of([] { task_of_config("tomita_44"); }),
              testing::HasSubstr("did you mean '{file: " CHE_SOURCE_DIR "/tasks/files/tomita_4.yaml}'?"));
  EXPECT_THAT(message_of([] { registered_task("parity_chek"); }),
              testing::HasSubstr("did you mean 'parity_check'?"));
  EXPECT_THAT(message_of([] { registered_task("even_pairs_"); }),
              testing::HasSubstr("did you mean 'even_pairs'?"))
      << "there is a file even_pairs_automaton.yaml";
  EXPECT_EQ("parity_check", registered_task("parity_check").name);
}

}  // namespace
}  // namespace che
