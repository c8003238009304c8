// Tests tasks that files declare: their samples, runs, refusals, and results that need no file.
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/cli/program_test.h"

namespace che {
namespace {

namespace fs = std::filesystem;

class OwnTaskProgram : public ProgramTest {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "mine");
    write("mine/no_three.att", "0 1 a\n0 0 b\n1 2 a\n1 0 b\n2 0 b\n0\n1\n2\n");
    task_ = write("mine/no_three.yaml",
                  "name: no_three\ndescription: strings without aaa\nsymbols: [a, b]\nanswer: accept\n"
                  "sample: balanced\nautomaton: no_three.att\n");
    config_ =
        write("own.yaml",
              "name: own\nbase:\n  model: {width: 8, layers: 1, heads: 2, ffn_multiple: 2}\n"
              "  training: {steps: 40, batch_size: 8, first_length: 3, last_length: 6}\n"
              "  evaluation: {first_length: 7, last_length: 9, samples: 64}\n"
              "axes:\n  task: [even_pairs, {file: mine/no_three.yaml}]\n  encoding: [randomized_rope]\n");
  }

  std::string task_;
  std::string config_;
};

TEST_F(OwnTaskProgram, IsShownSampledAndExported) {
  expect_contains(output_of({"list", "task", task_}),
                  {"no_three (version 1, definition ", "strings without aaa", "balanced", "length 1 ",
                   "allowed: lengths from 3", "chance 0.5000"});
  const std::string samples = output_of({"sample", task_, "--length", "9", "--count", "40"});
  std::istringstream lines(samples);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(contains(line, "aaa"), line.ends_with(" -> 0")) << line;
  }
  EXPECT_EQ(samples, che({"sample", task_, "--length", "9", "--count", "40"}).output);
  const std::string exported = (folder_ / "samples").string();
  output_of({"export", task_, "-o", exported, "--lengths", "7:9", "--samples", "64"});
  expect_contains(read_file(exported + "/no_three.jsonl"),
                  {R"("task":"no_three")", R"("lengths":[7,8,9])", R"("definition":"name: no_three\n)"});
}

TEST_F(OwnTaskProgram, RunsAndNeedsNoFileAfterwards) {
  output_of({"run", config_, "-o", results()});
  // The same task at another place and with other comments gives the same runs.
  fs::rename(folder_ / "mine", folder_ / "moved");
  write("moved/no_three.yaml",
        "# Moved.\nname: no_three\nsymbols: [a, b]\nanswer: accept\nsample: balanced\nautomaton: "
        "no_three.att\n");
  std::string text = read_file(config_);
  text.replace(text.find("mine/"), 5, "moved/");
  const auto before = contents(results(), "status.json");
  expect_contains(output_of({"run", write("moved.yaml", text), "-o", results()}), {"2 done, 0 to do"});
  EXPECT_EQ(before, contents(results(), "status.json"));
  // The results alone suffice, at another place.
  fs::remove_all(folder_ / "moved");
  const fs::path copy = folder_ / "copy";
  fs::copy(results(), copy, fs::copy_options::recursive);
  fs::remove_all(results());
  const std::string table = output_of({"table", copy.string()});
  expect_contains(table, {"even_pairs", "no_three", "50.0"});
  EXPECT_FALSE(contains(table, "warning")) << table;
  output_of({"evaluate", copy.string(), "--lengths", "12:14", "--samples", "64"});
  EXPECT_EQ(0, che({"report", copy.string()}).exit_code);
}

TEST_F(OwnTaskProgram, IsRefusedInOneLineWithExitCodeTwo) {
  write("mine/no_three.att", "0 1 a\n0 2 a\n1\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"sample", task_, "--length", "9"},
        {"list", "task", task_},
        {"export", task_, "-o", results()},
        {"check", config_},
        {"run", config_, "-o", results()}}) {
    expect_refusal(che(arguments),
                   {"no_three.att:2: not deterministic: state 0 has two transitions for 'a'"});
  }
  expect_refusal(che({"sample", "none.yaml", "--length", "9"}), {"none.yaml: no such file"});
  expect_refusal(che({"sample", task_, "--length", "9", "--set", "a=b"}),
                 {"a task of a file has no options"});
}

}  // namespace
}  // namespace che
