// The che program as a user meets it: exit codes, messages, interruption and resume.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "core/atomic_file.h"
#include "core/version.h"

extern char** environ;

namespace che {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string output;  // Standard output and error together.
};

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() { std::filesystem::create_directories(folder_); }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }

  pid_t start(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{CHE_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_file().c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t process = 0;
    EXPECT_EQ(0, posix_spawn(&process, CHE_PROGRAM, &actions, nullptr, pointers.data(), environ));
    posix_spawn_file_actions_destroy(&actions);
    return process;
  }

  // Until the program that was started says `text`; a minute at most.
  void wait_for(const std::string& text) const {
    for (int i = 0; i < 1200 && read_file(output_file()).find(text) == std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  Outcome finish(pid_t process) const {
    int status = 0;
    EXPECT_EQ(process, waitpid(process, &status, 0));
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(output_file())};
  }

  Outcome che(const std::vector<std::string>& arguments) const { return finish(start(arguments)); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }

  // A sweep of two short runs; `extra` are further lines of its base.
  std::string small_config(const std::string& extra = "") const {
    return write("small.yaml",
                 "name: small\nbase:\n  model: {width: 8, layers: 1, heads: 2, ffn_multiple: 2}\n"
                 "  training: {steps: 40, batch_size: 8, last_length: 6}\n"
                 "  evaluation: {first_length: 7, last_length: 9, samples: 64}\n" +
                     extra + "axes:\n  task: [even_pairs, reverse_string]\n  encoding: [dape_kerple]\n");
  }

  std::string results() const { return (folder_ / "results").string(); }
  std::filesystem::path output_file() const { return folder_ / "output.txt"; }

  // Every file below `root` (of that name), by path, with its content.
  static std::map<std::string, std::string> everything(const std::filesystem::path& root) {
    return contents(root, "");
  }
  static std::map<std::string, std::string> contents(const std::filesystem::path& root,
                                                     const std::string& name) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.is_regular_file() && (name.empty() || entry.path().filename() == name)) {
        files[std::filesystem::relative(entry.path(), root).string()] = read_file(entry.path());
      }
    }
    return files;
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("che_program_test_{}", getpid());
};

// Exit code 2 and one line that holds all of `parts`.
void expect_refusal(const Outcome& outcome, const std::vector<std::string>& parts) {
  EXPECT_EQ(2, outcome.exit_code) << outcome.output;
  EXPECT_EQ(1, std::count(outcome.output.begin(), outcome.output.end(), '\n')) << outcome.output;
  for (const std::string& part : parts) {
    EXPECT_NE(std::string::npos, outcome.output.find(part)) << part << " is not in: " << outcome.output;
  }
}

TEST_F(ProgramTest, RefusesBadConfigsWithFileKeyAndAllowedValues) {
  struct Case {
    std::string line;  // Of the base.
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases{
      {"  trainig: {steps: 3}\n", {"small.yaml:6", "trainig", "unknown key", "did you mean 'training'"}},
      {"  seed: 1\n  seed: 2\n", {"small.yaml:7", "seed", "line 6"}},
      {"  seed: one\n", {"small.yaml:6", "seed", "one", "whole number"}},
      {"  learning_rate: -1\n", {"small.yaml:6", "learning_rate", "-1", "allowed"}},
      {"  task: ''\n", {"small.yaml:6", "task", "empty"}},
      {"  data_seed: 010\n", {"small.yaml:6", "data_seed", "010"}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.line);
    expect_refusal(che({"run", small_config(one.line), "-o", results()}), one.parts);
  }
  EXPECT_FALSE(std::filesystem::exists(results()));
}

TEST_F(ProgramTest, RefusesBadOverrides) {
  const std::string config = small_config();
  const auto run = [&](const std::string& override) {
    return che({"run", config, override, "-o", results()});
  };
  expect_refusal(run("training.steps=-5"), {"training.steps", "-5", "allowed"});
  expect_refusal(run("axes.task=[even_pears]"), {"task", "even_pears", "did you mean 'even_pairs'"});
  expect_refusal(run("encoding=ropee"), {"encoding", "ropee", "did you mean 'rope'"});
  expect_refusal(run("model.heads=3"), {"model.width", "model.heads", "8", "3"});
  const Outcome odd = che({"run", config, "encoding=rope", "model.width=6", "-o", results()});
  expect_refusal(odd, {"rope", "even", "model.width", "model.heads"});
  expect_refusal(run("training.first_length=7"), {"training.first_length", "7", "6"});
  expect_refusal(run("evaluation.first_length=0"), {"evaluation.first_length", "0", "allowed"});
  expect_refusal(run("encoding=dape_rope"), {"dape", "rope", "alibi", "kerple"});
  expect_refusal(run("execution.device=cuda"), {"execution.device", "cuda", "cpu"});
  EXPECT_FALSE(std::filesystem::exists(results()));
}

TEST_F(ProgramTest, RefusesFilesThatAreNoConfigs) {
  expect_refusal(che({"run", (folder_ / "missing.yaml").string()}), {"missing.yaml", "no such file"});
  expect_refusal(che({"run", folder_.string()}), {folder_.string()});
  expect_refusal(che({"run", write("empty.yaml", "")}), {"empty.yaml", "empty"});
  expect_refusal(che({"run", write("binary.yaml", std::string("name\0: x", 8))}), {"binary.yaml"});
  expect_refusal(che({"run", write("torn.yaml", "name: [a\nbase: {")}), {"torn.yaml"});
}

TEST_F(ProgramTest, RefusesAFolderItCannotUse) {
  write("file", "");
  expect_refusal(che({"run", small_config(), "-o", (folder_ / "file" / "below").string()}), {"file/below"});
}

TEST_F(ProgramTest, RefusesRunsThatContradictTheirFolder) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  // The last run contradicts its folder, so that the first is seen before.
  const std::string other = (folder_ / "other").string();
  ASSERT_EQ(0, che({"run", small_config(), "model.width=4", "training.steps=1", "-o", other}).exit_code);
  std::filesystem::copy_file(
      std::filesystem::path(other) / contents(other, "config.yaml").rbegin()->first,
      std::filesystem::path(results()) / contents(results(), "config.yaml").rbegin()->first,
      std::filesystem::copy_options::overwrite_existing);
  const auto before = everything(results() + "/runs");
  const Outcome outcome = che({"run", small_config(), "evaluation.last_length=8", "-o", results()});
  expect_refusal(outcome, {"another configuration", "model.width"});
  // The lock names whoever held it last.
  EXPECT_TRUE(before == everything(results() + "/runs")) << "a refused run wrote";
}

TEST_F(ProgramTest, RefusesWrongCommandLines) {
  EXPECT_EQ(2, che({}).exit_code);
  EXPECT_EQ(2, che({"walk"}).exit_code);
  EXPECT_EQ(2, che({"run"}).exit_code);
  EXPECT_EQ(2, che({"run", small_config(), "--workers", "0"}).exit_code);
  EXPECT_EQ(2, che({"sample", "even_pairs", "--length", "0", "--count", "1"}).exit_code);
  EXPECT_EQ(2, che({"table", (folder_ / "missing").string()}).exit_code);
  EXPECT_EQ(2, che({"plot", (folder_ / "missing").string()}).exit_code);
  const auto expect_wrong = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const Outcome outcome = che(arguments);
    EXPECT_EQ(2, outcome.exit_code) << outcome.output;
    EXPECT_NE(std::string::npos, outcome.output.find(message)) << outcome.output;
  };
  expect_wrong({"table", results(), "--runs", "--aggregate", "mean"}, "--aggregate excludes --runs");
  expect_wrong({"worker", results(), "--samples", "64"}, "--samples requires --lengths");
  expect_wrong({"worker", results(), "--lengths", "5:6"}, "--lengths requires --samples");
  expect_wrong({"worker", results(), results(), "--lengths", "5:6", "--samples", "64"}, "name one folder");
  EXPECT_EQ(0, che({"--help"}).exit_code);
  EXPECT_EQ(0, che({"run", "--help"}).exit_code);
}

TEST_F(ProgramTest, ShowsTheBiasOfATrainedRun) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto folder_of = [&](const std::string& task) {
    for (const auto& entry : std::filesystem::directory_iterator(results() + "/runs")) {
      if (entry.path().filename().string().starts_with(task)) return entry.path().string();
    }
    return std::string();
  };
  const std::string run = folder_of("reverse_string");
  const std::string shown = (folder_ / "shown").string();
  const Outcome outcome = che({"bias", run, "--length", "5", "--sample", "63", "--output", shown});
  ASSERT_EQ(0, outcome.exit_code) << outcome.output;
  const std::string csv = read_file(shown + "/bias-length5-sample63.csv");
  EXPECT_EQ(1 + 2 * 10 * 10, std::count(csv.begin(), csv.end(), '\n'));
  EXPECT_TRUE(csv.starts_with("layer,head,query,key,logit,bias,adapted\n0,0,0,0,"));
  for (const char* figure : {"-query5.svg", "-query5.png", "-map.svg", "-map.png"}) {
    EXPECT_GT(read_file(shown + "/bias-length5-sample63" + figure).size(), 5'000U) << figure;
  }

  expect_refusal(che({"bias", results(), "--length", "5"}), {"no run", "results/<experiment>/runs"});
  expect_refusal(che({"bias", run, "--length", "0"}), {"length", "0"});
  expect_refusal(che({"bias", run, "--length", "1000001"}), {"length", "1000001"});
  expect_refusal(che({"bias", run, "--length", "5000"}), {"--length 5000", "--memory-gib"});
  expect_refusal(che({"bias", run, "--length", "5", "--sample", "64"}), {"--sample 64", "0 .. 63"});
  expect_refusal(che({"bias", run, "--length", "5", "--query", "10"}), {"--query 10", "0 .. 9"});
  for (const char* file : {"/checkpoint.bin", "/checkpoint.previous.bin"})
    std::filesystem::remove(run + file);
  expect_refusal(che({"bias", run, "--length", "5"}), {"no checkpoint", "train it first"});

  const std::string other = (folder_ / "rope").string();
  ASSERT_EQ(
      0,
      che({"run", small_config(), "axes.encoding=[rope]", "axes.task=[even_pairs]", "-o", other}).exit_code);
  for (const auto& entry : std::filesystem::directory_iterator(other + "/runs")) {
    expect_refusal(che({"bias", entry.path().string(), "--length", "5"}), {"rope adds no bias", "kerple"});
  }
}

TEST_F(ProgramTest, PrintsTheTableOfAnEncoding) {
  const Outcome kerple = che({"encoding", "randomized_kerple", "--length", "4", "--csv", "--heads", "2",
                              "--width", "8", "--seed", "5", "--set", "max_position=64"});
  ASSERT_EQ(0, kerple.exit_code) << kerple.output;
  EXPECT_TRUE(kerple.output.starts_with("head,query,key,bias\n0,0,0,")) << kerple.output;
  EXPECT_EQ(1 + 2 * 4 * 4, std::count(kerple.output.begin(), kerple.output.end(), '\n'));
  const Outcome alibi =
      che({"encoding", "alibi", "--length", "2", "--heads", "8", "--set", "direction=symmetric"});
  EXPECT_TRUE(alibi.output.starts_with("head,query,key,bias\n0,0,0,0\n0,0,1,-0.5\n0,1,0,-0.5\n"))
      << alibi.output;

  const auto refusal = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"encoding", "--csv", "--length", "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return che(arguments);
  };
  expect_refusal(refusal({"dape_kerple"}), {"depends on the input", "che encoding kerple", "che bias"});
  expect_refusal(refusal({"none"}), {"none", "without an input"});
  expect_refusal(refusal({"cope"}), {"cope", "without an input"});
  expect_refusal(refusal({"kerpel"}), {"kerpel", "did you mean 'kerple'"});
  expect_refusal(refusal({"randomized_none"}), {"none", "no positions"});
  expect_refusal(refusal({"kerple", "--set", "direction=up"}), {"direction", "up", "symmetric"});
  expect_refusal(refusal({"kerple", "--set", "direction"}), {"direction", "key=value"});
  expect_refusal(refusal({"randomized_kerple", "--set", "max_position=3"}), {"max_position 3"});
  expect_refusal(refusal({"rope", "--width", "9", "--heads", "3"}), {"rope", "even"});
  expect_refusal(refusal({"learned", "--set", "rows=3"}), {"rows", "4"});
}

TEST_F(ProgramTest, SkipsWhatIsDone) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto before = contents(results(), "status.json");
  const Outcome again = che({"run", small_config(), "-o", results()});
  EXPECT_EQ(0, again.exit_code);
  EXPECT_NE(std::string::npos, again.output.find("2 done, 0 to do")) << again.output;
  EXPECT_EQ(before, contents(results(), "status.json"));
}

// Whatever is damaged of one run, the others are tabled, and the next run mends it.
TEST_F(ProgramTest, OneDamagedFileStopsNothing) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto whole = contents(results(), "evaluation.csv");
  for (const char* name : {"config.yaml", "metrics.csv", "evaluation.csv", "status.json"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path file =
        std::filesystem::path(results()) / contents(results(), "config.yaml").begin()->first;
    const std::filesystem::path damaged = file.parent_path() / name;
    std::filesystem::resize_file(damaged, std::filesystem::file_size(damaged) / 2);
    const Outcome table = che({"table", results()});
    EXPECT_EQ(0, table.exit_code) << table.output;
    EXPECT_NE(std::string::npos, table.output.find("che: warning: ")) << table.output;
    EXPECT_NE(std::string::npos, table.output.find(damaged.string())) << table.output;
    EXPECT_NE(std::string::npos, table.output.find("reverse_string")) << table.output;
    EXPECT_EQ(0, che({"plot", results()}).exit_code);
    const Outcome run = che({"run", small_config(), "-o", results()});
    EXPECT_EQ(0, run.exit_code) << run.output;
    EXPECT_NE(std::string::npos, run.output.find(damaged.string())) << run.output;
    EXPECT_EQ(whole, contents(results(), "evaluation.csv"));
    EXPECT_EQ(std::string::npos, che({"table", results()}).output.find("warning"));
  }
}

TEST_F(ProgramTest, PrintsTablesInEveryFormat) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const Outcome terminal =
      che({"table", results(), "--paper", "--difference", "--spread", "--baselines", "--aggregate", "mean"});
  EXPECT_EQ(0, terminal.exit_code);
  EXPECT_TRUE(terminal.output.starts_with("level    task            chance  constant  position"))
      << terminal.output;
  EXPECT_EQ(std::string::npos, terminal.output.find('\x1b')) << "escape sequences in a file";
  const std::map<std::string, std::string> beginnings{
      {"md", "| level "}, {"csv", "level,task,"}, {"json", "{\n"}, {"tex", "% Needs"}};
  for (const auto& [format, beginning] : beginnings) {
    const Outcome table = che({"table", results(), "--format", format});
    EXPECT_EQ(0, table.exit_code);
    EXPECT_TRUE(table.output.starts_with(beginning)) << table.output;
  }
  EXPECT_TRUE(che({"table", results(), "--runs", "--format", "csv"}).output.starts_with("run,task,"));
  EXPECT_EQ(2, che({"table", results(), "--runs", "--paper"}).exit_code);
  EXPECT_EQ(2, che({"table", results(), "--compare", "dape_kerple"}).exit_code);
  expect_refusal(che({"table", results(), "--compare", "dape_kerple", "rope"}), {"rope", "dape_kerple"});
  expect_refusal(che({"table", results(), "--compare", "dape_kerple", "rope", "--aggregate", "max"}),
                 {"maximum", "mean, median or iqm"});
  EXPECT_EQ(2, che({"table", results(), "--aggregate", "best"}).exit_code);
}

TEST_F(ProgramTest, DrawsTheFiguresThatHaveSomethingToShow) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const std::string figures = (folder_ / "figures").string();
  const Outcome all = che({"plot", results(), "--output", figures});
  EXPECT_EQ(0, all.exit_code) << all.output;
  EXPECT_EQ(4 * 3, std::count(all.output.begin(), all.output.end(), '\n'))
      << "nothing is varied: " << all.output;
  EXPECT_TRUE(std::filesystem::exists(figures + "/map.pdf"));
  const Outcome one = che({"plot", results(), "--figure", "runs", "--format", "svg", "--output", figures});
  EXPECT_EQ(figures + "/runs.svg\n", one.output);
  expect_refusal(che({"plot", results(), "--figure", "ablation"}), {"nothing to draw", "learning_rate"});
  EXPECT_EQ(2, che({"plot", results(), "--figure", "pie"}).exit_code);
}

TEST_F(ProgramTest, ReportsOnePageWithTheFilesItLinksTo) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const Outcome outcome = che({"report", results()});
  EXPECT_EQ(0, outcome.exit_code) << outcome.output;
  const std::string html = read_file(results() + "/report.html");
  EXPECT_NE(std::string::npos, html.find("href=\"./table.csv\""));
  EXPECT_TRUE(read_file(results() + "/table.csv").starts_with("level,task,"));
  EXPECT_TRUE(read_file(results() + "/runs.csv").starts_with("run,task,"));
  EXPECT_EQ(0, che({"report", results(), "--output", (folder_ / "page.html").string()}).exit_code);
  EXPECT_NE(std::string::npos, read_file(folder_ / "page.html").find("href=\"results/table.csv\""));
  expect_refusal(che({"report", results(), "--output", (folder_ / "none" / "page.html").string()}),
                 {"--output", "none"});
}

TEST_F(ProgramTest, ListsAPlanWithoutRunning) {
  const Outcome plan = che({"run", small_config(), "--dry-run", "-o", results()});
  EXPECT_EQ(0, plan.exit_code);
  EXPECT_NE(std::string::npos, plan.output.find("2 runs of 2 cells in 2 jobs")) << plan.output;
  EXPECT_NE(std::string::npos, plan.output.find("by one measured step an encoding")) << plan.output;
  const Outcome list = che({"run", small_config(), "--list", "--only", "task=even_pairs", "-o", results()});
  EXPECT_EQ(0, list.exit_code);
  EXPECT_TRUE(list.output.starts_with("waiting     even_pairs-dape_kerple-")) << list.output;
  EXPECT_EQ(1, std::count(list.output.begin(), list.output.end(), '\n')) << list.output;
  EXPECT_FALSE(std::filesystem::exists(results()));
}

TEST_F(ProgramTest, StartsNoMoreJobsThanAsked) {
  const Outcome first = che({"run", small_config(), "--max-jobs", "1", "-o", results()});
  EXPECT_EQ(75, first.exit_code) << first.output;
  EXPECT_NE(std::string::npos, first.output.find("1 jobs are left")) << first.output;
  EXPECT_EQ(1U, contents(results(), "evaluation.csv").size());
  EXPECT_EQ(0, che({"run", small_config(), "--max-jobs", "1", "-o", results()}).exit_code);
  EXPECT_EQ(2U, contents(results(), "evaluation.csv").size());
}

// Nothing that is there is computed again: files of earlier runs keep their bytes.
TEST_F(ProgramTest, AddsSeedsAndLengthsWithoutComputingAnythingTwice) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto before = everything(results() + "/runs");
  const Outcome seeds = che({"run", small_config(), "axes.seed=0:1", "-o", results()});
  ASSERT_EQ(0, seeds.exit_code) << seeds.output;
  EXPECT_NE(std::string::npos, seeds.output.find("4 runs, 2 done, 2 to do")) << seeds.output;
  auto after = everything(results() + "/runs");
  for (const auto& [file, content] : before) EXPECT_TRUE(content == after[file]) << file;

  const Outcome lengths = che({"run", small_config(), "evaluation.last_length=11", "-o", results()});
  ASSERT_EQ(0, lengths.exit_code) << lengths.output;
  EXPECT_EQ(std::string::npos, lengths.output.find(": step ")) << lengths.output;
  after = everything(results() + "/runs");
  for (const auto& [file, content] : before) {
    if (file.ends_with("metrics.csv") || file.ends_with(".bin")) {
      EXPECT_TRUE(content == after[file]) << file;
    }
    if (!file.ends_with("evaluation.csv")) continue;
    const auto rows = [](const std::string& csv) { return std::count(csv.begin(), csv.end(), '\n') - 1; };
    EXPECT_EQ(3, rows(content));
    EXPECT_EQ(5, rows(after[file]));
  }
}

// What was asked of every run and measured of some is no success.
TEST_F(ProgramTest, EvaluateNamesTheRunsThatItLeavesOut) {
  ASSERT_EQ(75, che({"run", small_config(), "-o", results(), "--max-jobs", "1"}).exit_code);
  const std::vector<std::string> further{"evaluate", results(), "--lengths", "20:20", "--samples", "64"};
  const Outcome unfinished = che(further);
  EXPECT_EQ(1, unfinished.exit_code);
  EXPECT_NE(std::string::npos, unfinished.output.find("2 runs: 1 to evaluate")) << unfinished.output;
  EXPECT_NE(std::string::npos, unfinished.output.find("runs/reverse_string-")) << unfinished.output;
  EXPECT_NE(std::string::npos, unfinished.output.find("is not finished but waiting")) << unfinished.output;

  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  EXPECT_EQ(0, che(further).exit_code);
  for (const auto& [file, content] : contents(results(), "config.yaml")) {
    if (file.find("even_pairs") != std::string::npos) std::ofstream(results() + "/" + file) << "seed: 1\n";
  }
  const Outcome damaged = che(further);
  EXPECT_EQ(1, damaged.exit_code);
  EXPECT_NE(std::string::npos, damaged.output.find("2 runs: 0 to evaluate")) << damaged.output;
  EXPECT_NE(std::string::npos, damaged.output.find("1 not finished or damaged")) << damaged.output;
}

TEST_F(ProgramTest, EvaluatesStoredModelsAndPrunesThem) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto metrics = contents(results(), "metrics.csv");
  const std::vector<std::string> further{"evaluate", results(), "--lengths", "20:30:5", "--samples", "128"};
  const Outcome evaluated = che(further);
  ASSERT_EQ(0, evaluated.exit_code) << evaluated.output;
  EXPECT_NE(std::string::npos, evaluated.output.find("2 to evaluate")) << evaluated.output;
  for (const auto& [file, csv] : contents(results(), "evaluation.csv")) {
    for (const char* row : {"\n9,64,0,off,", "\n20,128,0,off,", "\n25,128,0,off,", "\n30,128,0,off,"}) {
      EXPECT_NE(std::string::npos, csv.find(row)) << file << csv;
    }
  }
  // What was measured is what a config that asks for it wants: nothing is left to do.
  const Outcome asked = che({"run", small_config(),
                             "evaluation={first_length: 20, last_length: 30, length_step: "
                             "5, samples: 128}",
                             "-o", results()});
  EXPECT_NE(std::string::npos, asked.output.find("2 done, 0 to do")) << asked.output;
  EXPECT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  EXPECT_NE(std::string::npos, che(further).output.find("0 to evaluate"));
  const Outcome nothing_left = che({"run", small_config(), "--dry-run", "-o", results()});
  EXPECT_NE(std::string::npos, nothing_left.output.find("2 of them done; to do: 0.00e+00"))
      << nothing_left.output;
  expect_refusal(che({"evaluate", results(), "--lengths", "30:20", "--samples", "64"}), {"--lengths 30:20"});
  expect_refusal(che({"evaluate", results(), "--lengths", "5:99999999999", "--samples", "64"}),
                 {"last_length", "99999999999", "allowed"});
  expect_refusal(che({"evaluate", results(), "--lengths", "5:6", "--samples", "65"}),
                 {"samples", "65", "64"});

  const Outcome pruned = che({"prune", results()});
  EXPECT_EQ(0, pruned.exit_code);
  EXPECT_NE(std::string::npos, pruned.output.find("2 of 2 runs")) << pruned.output;
  EXPECT_TRUE(contents(results(), "checkpoint.bin").empty());
  EXPECT_EQ(metrics, contents(results(), "metrics.csv"));
  EXPECT_NE(std::string::npos, che({"run", small_config(), "-o", results()}).output.find("2 done, 0 to do"));
  const Outcome lost = che({"evaluate", results(), "--lengths", "40:40", "--samples", "64"});
  EXPECT_EQ(1, lost.exit_code);
  EXPECT_NE(std::string::npos, lost.output.find("has no checkpoint")) << lost.output;
  EXPECT_NE(std::string::npos, che({"status", results()}).output.find("2 runs: 2 finished, 0 running"));
  const auto before = everything(results() + "/runs");
  std::vector<std::string> more{"run", small_config(), "evaluation.last_length=10", "-o", results()};
  expect_refusal(che(more), {"2 trained runs have no checkpoint", "--retrain", "even_pairs-dape_kerple-"});
  EXPECT_EQ(before, everything(results() + "/runs")) << "a refusal wrote";
  more.push_back("--retrain");
  EXPECT_EQ(0, che(more).exit_code);
  for (const auto& [file, csv] : contents(results(), "evaluation.csv")) {
    EXPECT_EQ(std::string::npos, csv.find("\n20,128,")) << "rows of two models in " << file;
  }
  EXPECT_EQ(2U, contents(results(), "evaluation.csv.replaced").size());
}

// Its scheduler may die before a worker can ask to be told.
TEST_F(ProgramTest, AWorkerDoesNothingForADeadParent) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results(), "--only", "task=even_pairs"}).exit_code);
  const std::string csv = contents(results(), "evaluation.csv").begin()->first;
  const std::filesystem::path run = std::filesystem::path(results()) / csv;
  std::filesystem::remove(run);
  EXPECT_EQ(75, che({"worker", "--parent", "1", run.parent_path().string()}).exit_code);
  EXPECT_FALSE(std::filesystem::exists(run));
  EXPECT_EQ(0, che({"worker", run.parent_path().string()}).exit_code) << "without a parent";
  EXPECT_TRUE(std::filesystem::exists(run));
}

// A worker that is killed fails its job alone; the sweep goes on, and the next call resumes it.
TEST_F(ProgramTest, AKilledWorkerIsRecordedAndRetried) {
  const pid_t process = start({"run", small_config(), "training.steps=20000", "-o", results(), "-w", "1"});
  wait_for(": step ");
  const Outcome status = [&] {
    const std::string command =
        fmt::format("{} status {} > {}/status.txt", CHE_PROGRAM, results(), folder_.string());
    EXPECT_EQ(0, std::system(command.c_str()));
    return Outcome{0, read_file(folder_ / "status.txt")};
  }();
  EXPECT_NE(std::string::npos, status.output.find("1 running, 0 stopped, 0 failed, 1 waiting"))
      << status.output;
  EXPECT_NE(std::string::npos, status.output.find("  running   even_pairs-dape_kerple-")) << status.output;
  // The scheduler's only child.
  EXPECT_EQ(0, std::system(fmt::format("pkill -KILL -P {}", process).c_str()));
  wait_for("failed: its process was ended by signal 9");
  wait_for("reverse_string-dape_kerple-lr0.0003-seed0-");
  kill(process, SIGTERM);
  EXPECT_EQ(75, finish(process).exit_code);
  EXPECT_NE(std::string::npos, che({"status", results()}).output.find("1 failed")) << "not recorded";
  const Outcome again =
      che({"run", small_config(), "training.steps=20000", "-o", results(), "--only", "task=even_pairs"});
  EXPECT_EQ(0, again.exit_code) << again.output;
}

// Stopped by each signal and started again, a sweep ends with the bytes of an undisturbed one.
TEST_F(ProgramTest, StopsAtACheckpointAndGoesOn) {
  const std::string straight = (folder_ / "straight").string();
  const std::string longer = "training.steps=6000";
  ASSERT_EQ(0, che({"run", small_config(), longer, "-o", straight}).exit_code);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) {
    const pid_t process = start({"run", small_config(), longer, "-o", results(), "-w", "1"});
    wait_for(": step ");
    kill(process, signal);
    const Outcome outcome = finish(process);
    EXPECT_EQ(75, outcome.exit_code) << signal << outcome.output;
    const auto states = contents(results(), "status.json");
    EXPECT_TRUE(std::any_of(
        states.begin(), states.end(),
        [](const auto& file) { return file.second.find("\"interrupted\"") != std::string::npos; }))
        << signal << outcome.output;
  }
  ASSERT_EQ(0, che({"run", small_config(), longer, "-o", results()}).exit_code);
  EXPECT_EQ(contents(straight, "evaluation.csv"), contents(results(), "evaluation.csv"));
}

TEST_F(ProgramTest, BenchesStepsAndBatchesByPart) {
  const std::vector<std::string> tiny{"model.width=16", "model.layers=1", "model.heads=2",
                                      "training.batch_size=4"};
  const std::string report = (folder_ / "bench.json").string();
  const auto bench = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    arguments.insert(arguments.end(), tiny.begin(), tiny.end());
    return che(arguments);
  };
  const Outcome training =
      bench({"--encoding", "alibi,dape_kerple", "--length", "3,5", "--steps", "2", "--json", report});
  EXPECT_EQ(0, training.exit_code) << training.output;
  const auto rows = nlohmann::json::parse(read_file(report)).at("rows");
  ASSERT_EQ(4U, rows.size());
  for (const auto& row : rows) {
    // Parts are medians of their own; "other" is what is left of each step.
    for (const char* part : {"data", "attention", "linear", "norm", "optimiser"}) {
      EXPECT_GT(row.at("parts").at(part).get<double>(), 0) << part;
    }
    EXPECT_GT(row.at("share").get<double>(), 0);
    EXPECT_GT(row.at("peak_mib").get<double>(), 10);
  }
  EXPECT_EQ(6, rows[1].at("tokens"));
  EXPECT_EQ(0, bench({"--evaluate", "--steps", "1", "execution.kernels=reference"}).exit_code);
  expect_refusal(bench({"--encoding", "kerpel"}), {"kerpel", "kerple"});
  expect_refusal(bench({"model.widht=8"}), {"widht", "width"});
  expect_refusal(bench({"execution.kernels=fast"}), {"kernels", "fused, reference"});
  expect_refusal(bench({"--json", (folder_ / "missing" / "x.json").string()}), {"missing"});
}

TEST_F(ProgramTest, TakesOverTheLockOfADeadProcess) {
  std::filesystem::create_directories(results());
  std::ofstream(results() + "/lock") << "process 1 on elsewhere";
  EXPECT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
}

TEST_F(ProgramTest, RefusesAFolderThatAnotherProcessWorksIn) {
  const pid_t process = start({"run", small_config(), "training.steps=100000", "-o", results(), "-w", "1"});
  wait_for(": step ");
  const std::filesystem::path second = folder_ / "second.txt";
  const std::string command = fmt::format("{} run {} training.steps=100000 -o {} > {} 2>&1", CHE_PROGRAM,
                                          small_config(), results(), second.string());
  const int status = std::system(command.c_str());
  expect_refusal({WEXITSTATUS(status), read_file(second)},
                 {"being worked on", fmt::format("process {} on {}", process, host_name())});
  kill(process, SIGTERM);
  EXPECT_EQ(75, finish(process).exit_code);
}

}  // namespace
}  // namespace che
