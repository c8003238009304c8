// Tests --only, -o and --format, which all commands that read an experiment share.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/program_test.h"

namespace che {
namespace {

class ReadingProgram : public ProgramTest {
 protected:
  ReadingProgram() {
    output_of({"run", small_config(), "-o", results(), "axes.encoding=[rope, dape_kerple]"});
  }

  // Returns a command line that reads the experiment.
  std::vector<std::string> reading(const std::vector<std::string>& command,
                                   const std::vector<std::string>& options) const {
    std::vector<std::string> words = {command.front(), results()};
    words.insert(words.end(), command.begin() + 1, command.end());
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
};

TEST_F(ReadingProgram, EveryCommandChoosesRunsAlike) {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"table"},
           {"plot", "--figure", "map", "--format", "svg", "-o", file("figures")},
           {"report", "--output", file("part.html")},
           {"evaluate", "--lengths", "12:13", "--samples", "64"},
           {"status"},
           {"prune"},
           {"time"}}) {
    SCOPED_TRACE(command.front());
    expect_refusal(che(reading(command, {"--only", "encoding=ropes"})),
                   {"unknown encoding 'ropes'", "did you mean 'rope'"});
    expect_refusal(che(reading(command, {"--only", "seed=5"})), {"--only leaves none of 4 stored runs"});
  }
  const std::vector<std::string> only = {"--only", "encoding=dape_kerple", "--only", "task=even_pairs"};
  const std::string table = che(reading({"table"}, only)).output;
  expect_contains(table,
                  {"even_pairs", "dape_kerple", "Only runs with: encoding=dape_kerple and task=even_pairs."});
  EXPECT_FALSE(contains(table, "reverse_string"));
  expect_contains(che(reading({"status"}, only)).output, {": 1 run: 1 finished"});
  expect_contains(che(reading({"time"}, only)).output, {"even_pairs: milliseconds per training step"});
  expect_contains(che(reading({"evaluate", "--lengths", "12:13", "--samples", "64"}, only)).output,
                  {"1 run: 1 to evaluate", "for these, see: che table"});
  const std::vector<std::string> set{"evaluate", "--lengths", "13", "--set", "encoding.scaling=yarn"};
  expect_contains(
      che(reading(set, {"--only", "encoding=rope", "--only", "task=even_pairs"})).output,
      {"for these with --set: che evaluate ", " --lengths 13, then che table ", " --score-lengths 13"});
  // The table of lengths has the lengths that evaluate added.
  const std::string lengths = che(reading({"table", "--lengths", "--format", "csv"}, only)).output;
  EXPECT_EQ(std::ranges::count(lengths, '\n'), 1 + 3 + 2) << lengths;
  expect_contains(lengths, {",12,64,", ",no,", ",yes,"});
  std::filesystem::create_directory(file("theirs"));
  std::filesystem::create_directory_symlink(std::filesystem::absolute(results()) / "runs",
                                            file("theirs/runs"));
  expect_refusal(che({"prune", file("theirs")}), {"runs' is a symbolic link; prune the experiment"});
  expect_contains(che(reading({"prune"}, only)).output, {"deleted the checkpoints of 1 of 1 run"});
  output_of(reading({"plot", "--figure", "map", "--format", "svg", "-o", file("figures")}, only));
  expect_refusal(che(reading({"plot"}, only)), {"--only needs --output"});
  const std::string own = std::filesystem::absolute(results()) / "runs.csv";
  output_of({"report", results()});
  std::filesystem::create_symlink(own, file("page.html"));
  for (const std::string& page : {own, file("page.html")}) {
    expect_refusal(che({"report", results(), "-o", page}),
                   {"is a CSV file that a page writes; name another"});
  }
  EXPECT_FALSE(contains(read_file(file("figures/figure-data/map.csv")), "reverse_string"));
}

// Equal numbers of repetitions that the cells of a task do not share are no pairs.
TEST_F(ProgramTest, CheckPromisesNoTestOfRepetitionsThatDiffer) {
  const auto check = [&](const std::string& one, const std::string& other) {
    const std::string apart = "exclude: [{" + one + ", seed: 0}, {" + other + ", seed: 1}]\n";
    return output_of({"check", small_config(apart), "axes.encoding=[rope, dape_kerple]", "axes.seed=0:2"});
  };
  expect_contains(check("encoding: rope", "encoding: dape_kerple"),
                  {"\n2 repetitions per cell: `che compare` pairs those"});
  expect_contains(check("task: even_pairs", "task: reverse_string"),
                  {"\n2 repetitions per cell: the smallest p-value"});
}

// Retraining follows the settings of execution.
TEST_F(ReadingProgram, ACompleteRunKeepsTheExecutionThatComputedIt) {
  output_of({"run", small_config(), "-o", results(), "axes.encoding=[rope, dape_kerple]",
             "execution.micro_batch=2", "evaluation.at_steps=[5]"});
  const auto configs = contents(results(), "config.yaml");
  EXPECT_EQ(4U, configs.size());
  for (const auto& [path, config] : configs) {
    expect_contains(config, {"at_steps: [5]"});
    EXPECT_EQ(config.npos, config.find("micro_batch: 2")) << path;
  }
}

TEST_F(ReadingProgram, StepsOfLengthsHaveABound) {
  expect_refusal(che({"evaluate", results(), "--lengths", "20:30:9223372036854775807"}),
                 {"--lengths 20:30:9223372036854775807", "with a step up to 1000000"});
}

// `che time` divides it by all rows, once the config asks for those that `evaluate` added.
TEST_F(ReadingProgram, EvaluateAddsItsTimeToThatOfTheRun) {
  const auto seconds = [&] {
    double sum = 0;
    for (const auto& [file, content] : contents(results(), "status.json")) {
      sum += nlohmann::json::parse(content)["evaluation_seconds"].get<double>();
    }
    return sum;
  };
  const double of_run = seconds();
  EXPECT_GT(of_run, 0);
  output_of(reading({"evaluate", "--lengths", "12:13", "--samples", "64"}, {}));
  EXPECT_GT(seconds(), of_run);
}

TEST_F(ReadingProgram, SaysWhichColumnsAndLengthsThereAre) {
  expect_refusal(
      che(reading({"compare", "--column", "rope", "--base", "dape_kerple"}, {"--only", "encoding=rope"})),
      {"'dape_kerple' is left out by --only or --skip; there are: rope"});
}

TEST_F(ProgramTest, FiguresOfTasksAreRefusedForTexts) {
  const std::string results = (folder_ / "text").string();
  const std::string config = write("text.yaml", R"(
name: text
base:
  text: austen
  encoding: rope
  model: {width: 16, layers: 1, heads: 2}
  training: {steps: 1, batch_size: 1, first_length: 16, last_length: 16}
  evaluation: {lengths: [16], samples: 64}
)");
  output_of({"run", config, "-o", results});
  for (const char* figure : {"accuracy", "differences", "map", "runs", "steps", "effects"}) {
    expect_refusal(che({"plot", results, "--figure", figure}),
                   {fmt::format("nothing to draw for {}: it needs", figure), " on a task"});
  }
  expect_refusal(che({"plot", results, "--compare", "rope", "rope"}),
                 {"--compare: ", "all these runs are on texts", "`che compare`"});
  output_of({"plot", results, "--format", "svg"});
}

TEST_F(ReadingProgram, SeveralPairsAreCompared) {
  const auto plot = [&](const std::vector<std::string>& pairs) {
    return che(reading({"plot", "--figure", "differences"}, pairs));
  };
  expect_refusal(plot({"--compare", "dape_kerple", "rope", "--compare", "rope", "dape_kerple"}),
                 {"nothing to draw for differences: it needs", "two repetitions"});
  expect_refusal(plot({"--compare", "dape_kerple", "rope", "--compare", "rope", "kerple"}),
                 {"'kerple' is no encoding"});
}

TEST_F(ReadingProgram, ScoresAreReadByRules) {
  expect_refusal(che({"table", results(), "--score-lengths", "900:950"}),
                 {"--score-lengths 900:950: ", " was measured at none of these lengths; it was at "});
  expect_refusal(che({"plot", results(), "--score-lengths", "1:900"}), {"--score-lengths needs --output"});
  expect_refusal(che({"report", results(), "--select", "training"}), {"--select needs --output"});
  EXPECT_EQ(2, che({"table", results(), "--by-length"}).exit_code);
  expect_contains(che({"table", results(), "--score-lengths", "1:900", "--select", "training"}).output,
                  {"the mean over the measured test lengths in 1:900", "(--select training): "});
  expect_contains(che({"compare", results(), "--column", "dape_kerple", "--base", "rope", "--by-length",
                       "--format", "csv"})
                      .output,
                  {"level,task,length,one,other,", ",detectable"});
}

TEST_F(ReadingProgram, OutputGoesIntoAFileAsItIsPrinted) {
  for (const char* command : {"table", "status", "time"}) {
    for (const char* format : {"terminal", "md", "tex", "csv", "json"}) {
      SCOPED_TRACE(std::string(command) + " " + format);
      const std::string printed = output_of(reading({command}, {"--format", format}));
      EXPECT_FALSE(printed.empty());
      EXPECT_EQ(0, che(reading({command}, {"--format", format, "-o", file("text")})).exit_code);
      EXPECT_EQ(read_file(file("text")), printed);
    }
    EXPECT_EQ(2, che(reading({command}, {"--format", "cvs"})).exit_code);
  }
  EXPECT_EQ(2, che(reading({"status"}, {"--watch", "--format", "csv"})).exit_code);
}

TEST_F(ReadingProgram, AReportOnSomeRunsReplacesNothing) {
  EXPECT_EQ(0, che({"report", results()}).exit_code);
  const auto before = everything(results());
  expect_contains(before.at("lengths.csv"), {"run,level,task,encoding,", "reverse_string"});
  expect_refusal(che({"report", results(), "--only", "task=even_pairs"}), {"--only needs --output"});
  EXPECT_EQ(0, che({"report", results(), "--only", "task=even_pairs", "-o", file("even.html")}).exit_code);
  EXPECT_EQ(everything(results()), before);
  expect_contains(read_file(file("even.html")), {"href=\"even-table.csv\"", "href=\"even-lengths.csv\"",
                                                 "href=\"results/runs/even_pairs-"});
  for (const char* name : {"even-table.csv", "even-runs.csv", "even-lengths.csv"}) {
    const std::string text = read_file(file(name));
    EXPECT_NE(text.find("even_pairs"), std::string::npos) << name;
    EXPECT_EQ(text.find("reverse_string"), std::string::npos) << name;
  }
}

TEST_F(ReadingProgram, AWidthOfPaperHasLimits) {
  const Outcome narrow = che({"plot", results(), "--width", "20"});
  EXPECT_EQ(narrow.exit_code, 2);
  expect_contains(narrow.output, {"--width", "60", "400"});
  EXPECT_EQ(0, che({"plot", results(), "--width", "85", "--format", "pdf", "-o", file("figures")}).exit_code);
  expect_contains(read_file(file("figures/accuracy.pdf")), {"%PDF-"});
}

}  // namespace
}  // namespace che
