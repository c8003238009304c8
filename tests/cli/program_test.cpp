// Tests exit codes, messages, tables and figures of the program.
#include "tests/cli/program_test.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/version.h"
#include "experiments/schedule/devices.h"

namespace che {
namespace {

// tests/golden/bad_configs.txt has the messages. A refusal is one line with exit code 2, and it leaves no
// folder behind.
TEST_F(ProgramTest, RefusesBadConfigsAndOverridesInOneLine) {
  const auto run = [&](const std::string& config, const std::string& override = "seed=0") {
    return che({"run", config, override, "-o", results()});
  };
  expect_refusal(run(small_config("  trainig: {steps: 3}\n")),
                 {"small.yaml:6", "trainig", "unknown key", "did you mean 'training'"});
  expect_refusal(run(small_config(), "training.steps=-5"), {"training.steps", "-5", "allowed"});
  expect_refusal(run((folder_ / "missing.yaml").string()), {"missing.yaml", "no such file"});
  EXPECT_FALSE(std::filesystem::exists(results()));
  write("file", "");
  expect_refusal(che({"run", small_config(), "-o", (folder_ / "file" / "below").string()}), {"file/below"});
}

TEST_F(ProgramTest, RefusesWrongCommandLines) {
  EXPECT_EQ(2, che({"run"}).exit_code);
  EXPECT_EQ(2, che({"run", small_config(), "--workers", "0"}).exit_code);
  EXPECT_EQ(2, che({"sample", "even_pairs", "--length", "0", "--count", "1"}).exit_code);
  EXPECT_EQ(2, che({"sample", "austen", "--length", "0", "--count", "1"}).exit_code);
  EXPECT_EQ(2, che({"plot", (folder_ / "missing").string()}).exit_code);
  const auto expect_wrong = [&](const std::vector<std::string>& arguments, const std::string& message) {
    expect_contains(output_of(arguments, 2), {message});
  };
  expect_wrong({}, "che: a command is missing; known: run, ");
  expect_wrong({"runn"}, "che: unknown command 'runn'; did you mean 'run'?; known: run, ");
  expect_wrong({"runn", "table", results()}, "che: unknown command 'runn'");
  // Internal commands are not suggested.
  for (const char* hidden : {"workr", "taks"}) {
    const std::string hint = che({hidden}).output;
    expect_contains(hint, {fmt::format("che: unknown command '{}'", hidden)});
    EXPECT_FALSE(contains(hint, "worker") || contains(hint, "'task'") || contains(hint, " task,")) << hint;
  }
  const std::string nowhere = (folder_ / "missing" / "x").string();
  expect_wrong({"bench", "--json", nowhere}, "che: --json " + nowhere + ": there is no folder ");
  expect_wrong({"table", results(), "--", "a", "--foramt"}, "che: table: unknown option --foramt");
  expect_wrong({"--versio"}, "che: unknown option --versio; did you mean '--version'?");
  expect_wrong({"status", results(), "more"},
               "che: status: unexpected argument 'more'\nRun `che status --help`");
  expect_wrong({"table", results(), "--runs", "--aggregate", "mean"}, "--runs excludes --aggregate");
  expect_wrong({"run", small_config(), "--list", "--dry-run"}, "--list excludes --dry-run");
  expect_wrong({"table", results(), "--lengths", "--metric", "loss"}, "--metric excludes --lengths");
  // An unset variable of a shell leaves an empty value.
  expect_wrong({"run", small_config(), "-o", ""}, "che: run: --output: is empty; give it a value\n");
  expect_wrong({"table", ""}, "che: table: EXPERIMENT_DIR: is empty; give it a value\n");
  expect_wrong({"plot", results(), "--figure", ""}, "che: plot: --figure: is empty; give it a value\n");
  expect_wrong({"table", results(), "--format", "--runs"},
               "che: table: --format: has no value: --runs follows it\n");
  expect_wrong(
      {"plot", results(), "--figure", "acuracy"},
      "che: plot: --figure: got 'acuracy'; did you mean 'accuracy'?; allowed: accuracy, differences, ");
  expect_wrong(
      {"table", results(), "--format", "cvs"},
      "che: table: --format: got 'cvs'; did you mean 'csv'?; allowed: terminal, md, csv, json, tex\n");
  expect_wrong({"compare", results(), "--column", "rope", "--by-length"}, "--by-length requires --base");
  // Settings without effect are refused.
  expect_wrong(
      {"check", small_config(), "encoding=rope", "encoding.scaling=linear", "encoding.beta_fast=16"},
      "command line: encoding.beta_fast, encoding.scaling: beta_fast has an effect with scaling: yarn only; "
      "got 16 with scaling: linear; set encoding.scaling to yarn or leave beta_fast out");
  expect_wrong({"check", small_config(), "encoding=kerple", "encoding.randomized_distance=per_position"},
               "command line: encoding.randomized_distance, encoding.positions: randomized_distance has an "
               "effect where positions are drawn only");
  expect_wrong(
      {"check", small_config(), "encoding=randomized_fire", "encoding.normalizer=query"},
      "command line: encoding.normalizer, encoding.randomized_distance: normalizer: query has no effect "
      "where distances are drawn");
  expect_wrong({"sample", "even_pairs", "--lenght", "3"},
               "che: sample: unknown option --lenght; did you mean '--length'?");
  expect_wrong({"sample", "even_pairs"}, "che: sample: --length is required");
  expect_wrong({"export", "quick/v1", "-o", "x", "--seed", "-1"},
               "che: export: --seed: Value -1 not in range 0 to 9007199254740992");
  expect_wrong({"evaluate", results(), "--device", "gpu"}, "che: execution.device: got gpu; allowed: cpu");
  expect_wrong({"evaluate", small_config()}, small_config());
  expect_wrong({"evaluate", std::string(300, 'a'), "--lengths", "5:5"}, "no results in");
  expect_wrong({"sample", "even_pairs", "--length", "abc"},
               "che: sample: --length: got abc; allowed: a whole number in decimal digits, below 2^63\n");
  expect_wrong({"evaluate", results(), "--lengths", "99999:1", "--samples", "64"},
               "che: --lengths 99999:1: allowed: a length, or ");
  expect_wrong({"worker", results(), "--samples", "64"}, "--samples requires --evaluate");
  expect_wrong({"worker", results(), results(), "--evaluate", "--lengths", "5:6", "--samples", "64"},
               "name one folder");
  EXPECT_EQ(0, che({"--help"}).exit_code);
  EXPECT_EQ(0, che({"run", "--help"}).exit_code);
}

TEST_F(ProgramTest, CheckSaysWhatTheRepetitionsAllow) {
  const std::string config = small_config();
  expect_contains(che({"check", config}).output, {"2 runs in 2 cells", "one repetition per cell"});
  expect_contains(che({"check", config, "axes.seed=[0, 1, 2]"}).output,
                  {"3 repetitions per cell", "smallest p-value",
                   "is 0.25 for one task and before Holm's adjustment over the tasks\n"});
  expect_contains(che({"check", config, "axes.data_seed=0:9"}).output,
                  {"10 repetitions", "is 0.00195 for one task"});
  expect_contains(che({"check", config, "axes.data_seed=0:2", "axes.seed=0:2"}).output,
                  {"only some repetitions share a seed or a data_seed: `che compare` has no test"});
}

TEST_F(ProgramTest, ShowsATask) {
  expect_contains(
      output_of({"list", "task", "even_pairs"}),
      {"even_pairs (version 1)", "output length", "chance", "0.5\n", "source", "pitfall", "@inproceedings{"});
  expect_refusal(che({"list", "task"}), {"list task: name the task, or its file"});
  expect_refusal(che({"list", "tasks", "even_pairs"}),
                 {"takes no name; 'list task even_pairs' shows one task"});
}

TEST_F(ProgramTest, NamesAWorkingDirectoryThatIsGone) {
  const std::string gone = (folder_ / "gone").string();
  std::filesystem::create_directory(gone);
  expect_refusal(shell(fmt::format("cd {0}; rmdir {0}; {1} list tasks", gone, CHE_PROGRAM)),
                 {"che: the working directory", "change to"});
}

TEST_F(ProgramTest, WithoutCheComputeNamesTheMissingProgram) {
  const std::filesystem::path alone = folder_ / "alone";
  std::filesystem::create_directory(alone);
  std::filesystem::copy_file(CHE_PROGRAM, alone / "che");
  const auto run_alone = [&](const std::string& arguments) {
    return shell(fmt::format("{}/che {}", alone.string(), arguments));
  };
  for (const std::string& arguments :
       {fmt::format("run {} -o {}", small_config(), results()),
        fmt::format("run {} --dry-run -o {}", small_config(), results()), std::string("bench --help")}) {
    expect_refusal(run_alone(arguments), {"che: this needs", "alone/che-compute", "scripts/setup.sh"});
  }
  EXPECT_FALSE(std::filesystem::exists(results()));
  EXPECT_EQ(0,
            run_alone(fmt::format("run {} --list -o {} execution.precision=auto", small_config(), results()))
                .exit_code);
  // A copy has the corpora of the source that it was built from.
  expect_contains(run_alone("corpus list").output, {"austen  4025035 tokens"});
}

TEST_F(ProgramTest, RefusesACheComputeOfAnotherCommit) {
  const std::filesystem::path pair = folder_ / "pair";
  std::filesystem::create_directory(pair);
  std::filesystem::copy_file(CHE_PROGRAM, pair / "che");
  const std::filesystem::path compute = std::filesystem::path(CHE_PROGRAM).parent_path() / "che-compute";
  std::filesystem::copy_file(compute, pair / "che-compute");
  const std::string command = (pair / "che").string() + " encoding rope --length 2";
  EXPECT_EQ(0, shell(command).exit_code);
  std::string content = read_file(compute);
  const std::size_t stamp = content.find(fmt::format("<che {} of commit ", program_version()));
  ASSERT_NE(std::string::npos, stamp);
  content.replace(content.find('>', stamp) - 1, 1, "?");
  std::ofstream(pair / "che-compute", std::ios::binary) << content;
  expect_refusal(shell(command), {"pair/che-compute is not the che-compute of this che, commit", "setup.sh"});
  std::filesystem::remove(pair / "che-compute");
  std::filesystem::create_symlink("che", pair / "che-compute");
  expect_refusal(shell(command), {"pair/che-compute is not the che-compute of this che"});
}

// glibc and OpenMP take them from the environment when a program starts.
TEST_F(ProgramTest, CheComputeStartsWithSettingsOfItsLibrariesUnlessTheUserHasOwnOnes) {
  const std::filesystem::path pair = folder_ / "pair";
  std::filesystem::create_directory(pair);
  std::filesystem::copy_file(CHE_PROGRAM, pair / "che");
  const std::string compute =
      fmt::format("#!/bin/sh\n# <che {} of commit {}>\necho $GLIBC_TUNABLES $OMP_WAIT_POLICY\n",
                  program_version(), git_commit());
  std::ofstream(pair / "che-compute") << compute;
  std::filesystem::permissions(pair / "che-compute", std::filesystem::perms::owner_all);
  const std::string command = (pair / "che").string() + " bench";
  expect_contains(shell("unset GLIBC_TUNABLES OMP_WAIT_POLICY; " + command).output,
                  {"glibc.malloc.hugetlb=1:", " passive\n"});
  const std::string own = "GLIBC_TUNABLES=glibc.malloc.check=0 OMP_WAIT_POLICY=active ";
  EXPECT_EQ("glibc.malloc.check=0 active\n", shell(own + command).output);
}

// The message is the same for every allocation that fails.
TEST_F(ProgramTest, OutOfMemoryIsOneLineWithARemedy) {
  const auto limited = [&](std::int64_t kib, const std::string& arguments) {
    return shell(fmt::format("ulimit -v {}; {} {}", kib, CHE_PROGRAM, arguments));
  };
  const Outcome start = limited(400'000, "list tasks");
  EXPECT_NE(134, start.exit_code) << start.output;
  EXPECT_FALSE(contains(start.output, "terminate")) << start.output;
  const std::string huge = fmt::format(
      "run {} axes.task=[even_pairs] model.width=65536 model.layers=50 -o {}", small_config(), results());
  const Outcome plan = limited(4'000'000, huge + " --dry-run");
  EXPECT_EQ(0, plan.exit_code) << plan.output;
  expect_contains(plan.output, {"1 run not measured", "GiB", "to do: "});
  EXPECT_FALSE(contains(plan.output, "frame #")) << plan.output;
  const Outcome run = limited(4'000'000, huge);
  EXPECT_EQ(1, run.exit_code) << run.output;
  expect_contains(run.output, {"failed: out of memory", "execution.memory_gib"});
  EXPECT_FALSE(contains(run.output, "frame #")) << run.output;
}

TEST_F(ProgramTest, MoreThreadsThanCoresAreOneWarning) {
  const std::string outcome =
      output_of({"run", small_config(), "execution.threads=1000", "-w", "2", "-o", results()});
  const std::size_t first = outcome.find("che: warning: execution.threads=1000");
  EXPECT_NE(std::string::npos, first) << outcome;
  EXPECT_EQ(std::string::npos, outcome.find("execution.threads", first + 20)) << outcome;
}

TEST_F(ProgramTest, HelpGroupsTheCommandsAndHidesTheWorker) {
  const std::string help = che({"--help"}).output;
  expect_contains(help, {"Run experiments:", "Look at results:", "evaluate", "bench"});
  EXPECT_FALSE(contains(help, "worker")) << help;
  expect_contains(che({"status", "--help"}).output, {"EXPERIMENT_DIR"});
  expect_contains(che({"bias", "--help"}).output, {"RUN_DIR"});
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
  output_of({"bias", run, "--length", "5", "--sample", "63", "--output", shown});
  const std::string stem =
      shown + "/" + std::filesystem::path(run).filename().string() + "-bias-length5-sample63";
  const std::string csv = read_file(stem + ".csv");
  EXPECT_EQ(1 + 2 * 10 * 10, std::count(csv.begin(), csv.end(), '\n'));
  EXPECT_TRUE(csv.starts_with("layer,head,query,key,output,distance,logit,bias,adapted,f\n0,0,0,0,0,0,"));
  for (const char* figure : {"-query5.svg", "-query5.png", "-map.svg", "-map.png"}) {
    EXPECT_GT(read_file(stem + figure).size(), 5'000U) << figure;
  }

  expect_refusal(che({"bias", results(), "--length", "5"}), {"no run", "results/<experiment>/runs"});
  expect_refusal(che({"bias", run, "--length", "5000"}), {"--length 5000", "--memory-gib"});
  expect_contains(output_of({"bias", run, "--length", "5", "--memory-gib", "nan"}, 2),
                  {"--memory-gib", "got 'nan'", "numbers from 0.01 to 1000000"});
  expect_refusal(che({"bias", run, "--length", "5", "--query", "10"}), {"--query 10", "0 .. 9"});
  for (const char* file : {"/checkpoint.bin", "/checkpoint.previous.bin"})
    std::filesystem::remove(run + file);
  expect_refusal(che({"bias", run, "--length", "5"}),
                 {"no checkpoint", "`che prune` deletes", "evaluation.last_length=10 --retrain --output"});
}

TEST_F(ProgramTest, PrintsTheTableOfAnEncoding) {
  const std::string kerple = output_of({"encoding", "randomized_kerple", "--length", "4", "--heads", "2",
                                        "--width", "8", "--seed", "5", "--set", "max_position=64"});
  EXPECT_TRUE(kerple.starts_with("head,query,key,bias\n0,0,0,")) << kerple;
  EXPECT_EQ(1 + 2 * 4 * 4, std::count(kerple.begin(), kerple.end(), '\n'));
  const Outcome alibi =
      che({"encoding", "alibi", "--length", "2", "--heads", "8", "--set", "direction=symmetric"});
  EXPECT_TRUE(alibi.output.starts_with("head,query,key,bias\n0,0,0,0\n0,0,1,-0.5\n0,1,0,-0.5\n"))
      << alibi.output;

  const auto refusal = [&](const std::string& encoding, const std::string& setting) {
    return che({"encoding", encoding, "--length", "4", "--set", setting});
  };
  expect_refusal(refusal("dape_kerple", "direction=symmetric"),
                 {"depends on the input", "che encoding kerple", "che bias"});
  expect_refusal(che({"encoding", "none", "--length", "4"}), {"none", "without an input"});
  expect_refusal(refusal("alibi", "window=1"), {"window and attention_scale change attention"});
  expect_refusal(refusal("kerple", "name=rope"), {"name=rope: sets name, which the argument kerple sets"});
  expect_refusal(refusal("kerple", "direction=up"), {"direction", "up", "symmetric"});
  expect_refusal(refusal("kerple", "direction"), {"direction", "key=value"});
  expect_refusal(refusal("randomized_kerple", "max_position=3"), {"max_position 3"});
  expect_refusal(refusal("learned", "rows=3"), {"rows", "4"});
}

TEST_F(ProgramTest, PrintsTablesInEveryFormat) {
  output_of({"run", small_config(), "axes.encoding=[randomized_dape_kerple]", "-o", results()});
  const std::string terminal = output_of(
      {"table", results(), "--paper", "--difference", "--spread", "--baselines", "--aggregate", "mean"});
  EXPECT_TRUE(terminal.starts_with("level    task            chance  constant  position")) << terminal;
  EXPECT_EQ(std::string::npos, terminal.find('\x1b')) << "escape sequences in a file";
  const std::map<std::string, std::string> beginnings{
      {"md", "| level "}, {"csv", "level,task,"}, {"json", "{\n"}, {"tex", "% Needs"}};
  for (const auto& [format, beginning] : beginnings) {
    const std::string table = output_of({"table", results(), "--format", format});
    EXPECT_TRUE(table.starts_with(beginning)) << table;
  }
  EXPECT_TRUE(che({"table", results(), "--runs", "--format", "csv"}).output.starts_with("run,task,"));
  EXPECT_EQ(2, che({"table", results(), "--runs", "--paper"}).exit_code);
  expect_contains(che({"table", results(), "--paper"}).output, {"In parentheses"});
  EXPECT_EQ(0, che({"table", results(), "--paper", "plain"}).exit_code);
  EXPECT_EQ(0, che({"table", "--paper", results()}).exit_code)
      << "a folder is not taken for the option's value";
  expect_contains(output_of({"table", results(), "--paper", "full"}, 2), {"allowed: comparable or plain"});
  expect_refusal(che({"compare", results(), "--column", "randomized_dape_kerple", "--base", "rope"}),
                 {"'rope' is no encoding", "known: randomized_dape_kerple"});
  const auto lines = [&](const char* notes) {
    const std::string text = che({"table", results(), "--notes", notes}).output;
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_LT(lines("none"), lines("short"));
  EXPECT_LT(lines("short"), lines("all"));
}

TEST_F(ProgramTest, DrawsTheFiguresThatHaveSomethingToShow) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const std::string figures = (folder_ / "figures").string();
  const std::string all = output_of({"plot", results(), "--output", figures});
  EXPECT_EQ(3 * 3, std::count(all.begin(), all.end(), '\n')) << "nothing is varied or repeated: " << all;
  EXPECT_TRUE(std::filesystem::exists(figures + "/map.pdf"));
  const Outcome one =
      che({"plot", results(), "--figure", "learning,learning", "--format", "svg", "--output", figures});
  EXPECT_EQ(figures + "/learning.svg\n", one.output);
  EXPECT_TRUE(read_file(figures + "/figure-data/learning.csv").starts_with("level,task,encoding,label,"));
  expect_refusal(che({"plot", results(), "--figure", "effects"}), {"nothing to draw", "learning_rate"});
  expect_refusal(che({"plot", results(), "--figure", "learning", "--by-length"}),
                 {"--by-length is of the figure differences; add it to --figure"});
  expect_refusal(che({"plot", results(), "--by-length"}), {"nothing to draw for differences"});
}

TEST_F(ProgramTest, ReportsOnePageWithTheFilesItLinksTo) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const std::string outside = results() + "-outside.html";
  std::ofstream(outside) << "precious";
  std::filesystem::create_symlink(outside, results() + "/report.html");
  output_of({"report", results()});
  EXPECT_EQ(read_file(outside), "precious") << "a link in the folder is replaced";
  const std::string html = read_file(results() + "/report.html");
  expect_contains(html, {"href=\"./table.csv\""});
  EXPECT_TRUE(read_file(results() + "/table.csv").starts_with("level,task,"));
  EXPECT_TRUE(read_file(results() + "/runs.csv").starts_with("run,task,"));
  const std::string page = (folder_ / "page.html").string();
  std::filesystem::remove(results() + "/table.csv");
  EXPECT_EQ(0, che({"report", results(), "--output", page}).exit_code);
  expect_contains(read_file(page), {"href=\"page-table.csv\""});
  EXPECT_TRUE(read_file(folder_ / "page-table.csv").starts_with("level,task,"));
  output_of({"report", results(), "--output", "/dev/stdout"});
  EXPECT_FALSE(std::filesystem::exists(results() + "/table.csv")) << "of a page elsewhere";
  expect_refusal(che({"report", results(), "--output", (folder_ / "none" / "page.html").string()}),
                 {"--output", "none"});
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
    // Each part has a median of its own.
    for (const char* part : {"data", "attention", "linear", "norm", "optimiser"}) {
      EXPECT_GT(row.at("parts").at(part).get<double>(), 0) << part;
    }
    EXPECT_GT(row.at("share").get<double>(), 0);
    EXPECT_GT(row.at("peak_mib").get<double>(), 10);
  }
  EXPECT_EQ(6, rows[1].at("tokens"));
  EXPECT_EQ(0, bench({"--evaluate", "--steps", "1", "execution.kernels=reference"}).exit_code);
  EXPECT_EQ(0, bench({"--steps", "1", "execution.threads=1000", "--json", report}).exit_code);
  EXPECT_EQ(usable_threads(1000), nlohmann::json::parse(read_file(report)).at("threads")) << "what it used";
  expect_refusal(bench({"--encoding", "kerpel"}), {"kerpel", "kerple"});
  expect_refusal(bench({"model.widht=8"}), {"widht", "width"});
  // A recurrent network has one row, as it takes no encoding.
  const std::vector<std::string> lstm{"bench",          "--steps",        "1", "--json", report,
                                      "model.width=24", "model.kind=lstm"};
  EXPECT_EQ(0, che(lstm).exit_code);
  const auto machine = nlohmann::json::parse(read_file(report)).at("rows");
  ASSERT_EQ(1U, machine.size());
  EXPECT_EQ(24, machine[0].at("width")) << "whichever setting comes first";
  EXPECT_EQ("lstm", machine[0].at("encoding"));
  EXPECT_GT(machine[0].at("parts").at("linear").get<double>(), 0);
  expect_refusal(che({"bench", "--encoding", "rope", "model.kind=lstm"}),
                 {"model.kind=lstm takes no encoding"});
  expect_refusal(che({"bench", "text=austen"}), {"text", "bench times tasks"});
  // An option has one way of being set.
  expect_refusal(bench({"task=parity_check"}), {"task=parity_check: sets task.name, which --task sets"});
  expect_refusal(bench({"model.width=4"}), {"sets model.width, which model.width=4 sets"});
  expect_refusal(bench({"encoding={name: rope}"}), {"sets encoding.name, which --encoding sets"});
  expect_refusal(bench({"training={last_length: 9}"}), {"sets training.last_length, which --length sets"});
  const std::string shared = (folder_ / "shared.json").string();
  EXPECT_EQ(0, bench({"--steps", "1", "--json", shared, "execution.replicas=3"}).exit_code);
  EXPECT_GT(nlohmann::json::parse(read_file(shared)).at("rows")[0].at("samples_per_second").get<double>(), 0);
}

}  // namespace
}  // namespace che
