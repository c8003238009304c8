#include "tasks/declared/task_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/algorithm/string/erase.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/plan/identity.h"
#include "experiments/plan/sweep.h"
#include "experiments/store/experiment_folder.h"
#include "tasks/declared/task_definition.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace fs = std::filesystem;

constexpr std::string_view kTask =
    "name: no_three\ndescription: no aaa\nsymbols: [a, b]\nanswer: accept\nautomaton: no_three.att\n";
constexpr std::string_view kAutomaton = "0 1 a\n0 0 b\n1 2 a\n1 0 b\n2 0 b\n0\n1\n2\n";

// A folder with a task in tasks/ and a config next to it.
class TaskFiles : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.path() / "tasks");
    write("tasks/no_three.yaml", kTask);
    write("tasks/no_three.att", kAutomaton);
  }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }

  Sweep read(const std::string& config, const std::vector<std::string>& overrides = {},
             const std::vector<std::string>& only = {}) const {
    write("x.yaml", config);
    return read_sweep(folder_.path() / "x.yaml", overrides, {.only = only}, [](const std::string&) {});
  }

  std::string error(const std::string& config, const std::vector<std::string>& overrides = {}) const {
    return boost::erase_all_copy(message_of([&] { read(config, overrides); }), folder_.path().string() + "/");
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  ScratchFolder folder_;
};

const std::string kConfig = "name: a\nbase: {task: {file: tasks/no_three.yaml}, encoding: rope}\n";

TEST_F(TaskFiles, StandInConfigsByTheirPathFromTheConfig) {
  const RunConfig run = read(kConfig).runs.at(0);
  EXPECT_EQ(run.task.name, "no_three");
  EXPECT_EQ(run.task.description, "no aaa");
  EXPECT_TRUE(run.task.is_declared());
  EXPECT_EQ(run.task.label().text(), "no_three");
  EXPECT_EQ(create_task(run.task)->input_symbols(), "ab");
}

// Messages show what was written, not the definition that stands in its place.
TEST_F(TaskFiles, AreNamedByTheirPathInMessages) {
  const std::string config =
      "name: a\nbase: {encoding: rope, model: {heads: 3}}\naxes: {task: [{file: tasks/no_three.yaml}]}\n";
  EXPECT_THAT(error(config), EndsWith(" (task={file: tasks/no_three.yaml})"));
  const std::string setting = "task={file: " + path("tasks/no_three.yaml") + "}";
  EXPECT_THAT(error(kConfig, {setting, setting}),
              HasSubstr("is set twice, by task={file: tasks/no_three.yaml} and by"));
  EXPECT_THAT(error(kConfig, {"task=[{file: " + path("tasks/no_three.yaml") + "}]"}),
              HasSubstr("task: got [{file: tasks/no_three.yaml}]; an override sets one value"));
}

// A stranger's config cannot show what files of this machine hold.
TEST_F(TaskFiles, OutsideTheConfigsFolderAreNotQuoted) {
  for (const char* const text :
       {"hunter2: 1\n", "hunter2\n", "hunter2: [\n", "name: hunter2\nanswer: hunter2\n"}) {
    write("secret.yaml", text);
    fs::create_directories(folder_.path() / "theirs");
    write("theirs/x.yaml", "name: a\nbase: {encoding: rope, task: {file: ../secret.yaml}}\n");
    const std::string message =
        message_of([&] { read_sweep(folder_.path() / "theirs/x.yaml", {}, {}, [](const std::string&) {}); });
    EXPECT_THAT(message, HasSubstr("secret.yaml' is no file of a task; `che list task "));
    EXPECT_THAT(message, Not(HasSubstr("hunter2")));
    EXPECT_THAT(error("name: a\nbase: {encoding: rope, task: {file: secret.yaml}}\n"),
                HasSubstr("task.file: secret.yaml:"));
  }
}

TEST_F(TaskFiles, AreNoFifos) {
  ASSERT_EQ(0, ::mkfifo(path("fifo.yaml").c_str(), 0600));
  EXPECT_THAT(error("name: a\nbase: {encoding: rope, task: {file: fifo.yaml}}\n"),
              HasSubstr("task.file: 'fifo.yaml' is a FIFO; allowed: a regular file"));
}

TEST_F(TaskFiles, AreStoredWithTheRun) {
  const RunConfig run = read(kConfig).runs.at(0);
  const std::string yaml = to_yaml(run);
  EXPECT_THAT(yaml, StartsWith("task:\n  definition: |\n    name: no_three\n    version: 1\n"));
  EXPECT_THAT(yaml, HasSubstr("    automaton: |\n      0 1 a\n      0 0 b\n"));
  EXPECT_THAT(yaml, Not(HasSubstr("no_three.att")));
  fs::remove_all(folder_.path() / "tasks");
  const RunConfig stored = parse_run_config(yaml, "config.yaml");
  EXPECT_EQ(run_id(stored), run_id(run));
  EXPECT_EQ(cell_id(stored), cell_id(run));
  EXPECT_EQ(to_yaml(stored), yaml);
  EXPECT_EQ(create_task(stored.task)->stream_key(), create_task(run.task)->stream_key());
}

TEST_F(TaskFiles, AreIdentifiedByTheirContent) {
  const std::string id = run_id(read(kConfig).runs.at(0));
  EXPECT_THAT(id, StartsWith("no_three-rope-lr0.0003-seed0-"));
  // Another place, another order of lines, a comment, another description and the automaton inside.
  write("moved.yaml",
        "# Mine.\nname: no_three\nanswer: accept\nsymbols: [a, b]\nautomaton: |\n  0 0 b\n  2\n  1\n  0 1 "
        "a\n  1 0 b\n"
        "  2 0 b\n  1 2 a\n  0\n");
  EXPECT_EQ(run_id(read("name: a\nbase: {task: {file: moved.yaml}, encoding: rope}\n").runs.at(0)), id);
  // Another language, version, name, answer or order of symbols.
  const auto id_of = [&](const std::string& head, std::string_view automaton) {
    write("tasks/no_three.yaml", head);
    write("tasks/no_three.att", automaton);
    return run_id(read(kConfig).runs.at(0));
  };
  const std::string head(kTask);
  EXPECT_NE(id_of(head, "0 1 a\n0 0 b\n1 2 a\n1 0 b\n2 0 b\n0\n1\n"), id);
  EXPECT_NE(id_of(head + "version: 2\n", kAutomaton), id);
  EXPECT_NE(id_of(head + "level: dcf\n", kAutomaton), id);
}

TEST_F(TaskFiles, StandInAxesVariantsFiltersAndOverrides) {
  const std::string axes =
      "name: a\nbase: {encoding: rope}\naxes:\n  task: [even_pairs, {file: tasks/no_three.yaml}]\n  seed: "
      "[0, 1]\n";
  EXPECT_EQ(read(axes).runs.size(), 4U);
  EXPECT_EQ(read(axes, {}, {"task=no_three"}).runs.size(), 2U);
  EXPECT_EQ(read(axes, {}, {"task=no_three"}).runs[0].task.name, "no_three");
  EXPECT_EQ(read(axes, {}, {"task=even_pairs"}).runs[0].task.name, "even_pairs");
  EXPECT_EQ(read(axes, {}, {"task={file: " + path("tasks/no_three.yaml") + "}"}).runs.size(), 2U);
  EXPECT_EQ(read(axes + "exclude:\n  - {task: {file: tasks/no_three.yaml}, seed: 1}\n").runs.size(), 3U);
  EXPECT_EQ(read(axes + "exclude:\n  - {task: no_three}\n").runs.size(), 2U);
  EXPECT_EQ(read("name: a\nbase: {encoding: rope}\naxes:\n  kind:\n    - {label: x, task: {file: "
                 "tasks/no_three.yaml}}\n"
                 "    - {label: y, task: parity_check}\n")
                .runs[0]
                .task.name,
            "no_three");
  EXPECT_EQ(read(axes, {"task={file: " + path("tasks/no_three.yaml") + "}"}).runs.size(), 2U);
  EXPECT_EQ(read(axes, {"axes.task=[{file: " + path("tasks/no_three.yaml") + "}, parity_check]"}).runs.size(),
            4U);
}

TEST_F(TaskFiles, AreSuggestedForMisspeltNames) {
  const std::string axes =
      "name: a\nbase: {encoding: rope}\naxes:\n  task: [even_pairs, {file: tasks/no_three.yaml}]\n";
  EXPECT_EQ(message_of([&] { read(axes, {}, {"task=no_tree"}); }),
            "command line: task: unknown task 'no_tree'; did you mean 'no_three', which a file declares?");
  EXPECT_THAT(message_of([&] { read(axes, {}, {"task=even_pair"}); }),
              HasSubstr("did you mean 'even_pairs'?"));
  EXPECT_EQ(error("name: a\nbase: {task: {file: tasks/no_tree.yaml}, encoding: rope}\n"),
            "x.yaml:2: task.file: tasks/no_tree.yaml: no such file; did you mean 'tasks/no_three.yaml'?");
}

TEST_F(TaskFiles, AreRefusedWithTheirPlaces) {
  const auto base = [](const std::string& task) {
    return "name: a\nbase:\n  task: " + task + "\n  encoding: rope\n";
  };
  EXPECT_EQ(error(base("{file: tasks/none.yaml}")), "x.yaml:3: task.file: tasks/none.yaml: no such file");
  EXPECT_EQ(error(base("{file: [a]}")), "x.yaml:3: task.file: got [a]; allowed: the path of a task's file");
  EXPECT_EQ(error(base("{file: tasks/no_three.yaml, name: x}")),
            "x.yaml:3: task.file: stands alone; the file has all settings of its task");
  EXPECT_THAT(error(base("no_three")), HasSubstr("unknown task 'no_three'"));
  EXPECT_EQ(error(kConfig, {"task.file=x.yaml"}),
            "command line: task.file: write it as task={file: my_task.yaml}");
  write("tasks/no_three.att", "0 1 a\n0 2 a\n1\n");
  EXPECT_EQ(error(base("{file: tasks/no_three.yaml}")),
            "x.yaml:3: task.file: tasks/no_three.att:2: not deterministic: state 0 has two transitions for "
            "'a', the "
            "first in line 1; fstdeterminize makes an automaton deterministic");
}

TEST_F(TaskFiles, AreRefusedInStoredRunsWithTheirPlaces) {
  const auto stored = [](const std::string& task) {
    return message_of([&] { parse_run_config("task:\n" + task + "encoding: {name: rope}\n", "c.yaml"); });
  };
  EXPECT_EQ(stored("  name: x\n  file: x.yaml\n").substr(0, 7), "c.yaml:");
  EXPECT_THAT(stored("  name: x\n  definition: |\n    name: x\n    answer: accpet\n"),
              HasSubstr("task.definition: definition:2: answer: got accpet; did you mean 'accept'?"));
  EXPECT_THAT(stored("  name: x\n  definition: |\n    name: x\n    answer: accept\n    symbols: [a, b]\n    "
                     "automaton: y.att\n"),
              HasSubstr("a stored definition names no files"));
  EXPECT_THAT(stored("  name: y\n  definition: |\n    name: x\n    answer: accept\n    symbols: [a, b]\n    "
                     "automaton: |\n"
                     "      0 0 a\n      0\n"),
              HasSubstr("task.name: got y; allowed: x"));
}

TEST_F(TaskFiles, WithoutSamplesOfALengthAreRefusedWhereTheLengthIsSet) {
  write("tasks/no_three.yaml", std::string(kTask) + "sample: balanced\n");
  EXPECT_EQ(error(kConfig),
            "x.yaml:2: training.first_length, task: no_three has no balanced samples of length 1, where "
            "the automaton accepts all strings or none; allowed: lengths from 3");
  EXPECT_EQ(read(kConfig, {"training.first_length=3"}).runs.size(), 1U);
}

TEST_F(TaskFiles, WithOneNameAndTwoDefinitionsHaveRowsOfTheirOwn) {
  write("tasks/other.yaml", std::string(kTask) + "version: 2\n");
  const std::vector<RunConfig> runs = read(
                                          "name: a\nbase: {encoding: rope}\naxes:\n  task: [{file: "
                                          "tasks/no_three.yaml}, {file: tasks/other.yaml}]\n")
                                          .runs;
  const CellLabels labels = label_cells(runs);
  ASSERT_EQ(labels.of.size(), 2U);
  EXPECT_NE(labels.of[0].task, labels.of[1].task);
  const std::string digest = definition_digest(runs[0].task.definition);
  EXPECT_EQ(labels.of[0].task.text(), "no_three(definition=" + digest + ")");
  EXPECT_EQ(label_cells({runs[0]}).of[0].task.text(), "no_three");
}

// Their runs are the same ones.
TEST_F(TaskFiles, AreChosenWhateverTheirDescription) {
  RunFolder::create(folder_.path(), read(kConfig).runs[0]);
  write("tasks/no_three.yaml", boost::replace_all_copy(std::string(kTask), "no aaa", "other words"));
  const RunChoice choice(
      {.only = {"task=[{file: " + path("tasks/no_three.yaml") + "}, {name: even_pairs}]"}});
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& text) { warnings.push_back(text); };
  EXPECT_EQ(1U, choice.of(open_runs(folder_.path()), warn).size());
  EXPECT_THAT(warnings, testing::ElementsAre(HasSubstr("has task={name: even_pairs}")));
}

}  // namespace
}  // namespace che
