// What is told of stored files that are cut, changed, of another run or cannot be read.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/file_lock.h"
#include "core/files.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/run_folder.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"
#include "tests/unprivileged.h"

namespace che {
namespace {

using StoredDamage = ScratchTest;

namespace fs = std::filesystem;

struct DamageCase {
  std::string file;
  std::string content;
  std::vector<std::string> message;
};

class DamagedFile : public testing::TestWithParam<DamageCase> {};

TEST_P(DamagedFile, IsNamedWithPlaceAndFinding) {
  const ScratchFolder scratch;
  const RunFolder folder = RunFolder::create(scratch.path(), made_up_config("reverse_string", "rope"));
  const fs::path file = folder.path() / GetParam().file;
  write_file_atomically(file, GetParam().content);
  std::vector<std::string> parts = GetParam().message;
  parts.insert(parts.end(), {file.string(), "che run"});
  expect_error(ErrorKind::kUsage, parts, [&] {
    folder.metrics();
    folder.evaluation();
    folder.status();
  });
}

const std::string kMetricsHeader = "step,loss,accuracy,gradient_norm,seconds,checksum\n";
const std::string kEvaluationHeader = "length,samples,seed,eval_dropout,accuracy,loss,checksum\n";

INSTANTIATE_TEST_SUITE_P(
    Csv, DamagedFile,
    testing::Values(
        DamageCase{"metrics.csv", "", {"metrics.csv:1:", "no header"}},
        DamageCase{"metrics.csv", kMetricsHeader, {"metrics.csv:2:", "no rows"}},
        DamageCase{"metrics.csv",
                   kMetricsHeader + "1,2,0.5,3,4,0\n",
                   {"metrics.csv:2: column checksum", "'0'", "for this run and content"}},
        DamageCase{"metrics.csv", "step,loss\n", {"metrics.csv:1:", "'step,loss'", "gradient_norm"}},
        DamageCase{
            "metrics.csv", kMetricsHeader + "1,2,0.5,3,4,0\n2,2,0.5,3,4,0", {"metrics.csv:3:", "cut off"}},
        DamageCase{
            "metrics.csv", kMetricsHeader + "1,2,0.5\n", {"metrics.csv:2:", "3 columns", "expected 6"}},
        DamageCase{"metrics.csv", kMetricsHeader + "\n", {"metrics.csv:2:", "1 columns"}},
        DamageCase{
            "metrics.csv", kMetricsHeader + "1,2,x7,3,4,0\n", {"metrics.csv:2: column accuracy", "'x7'"}},
        DamageCase{
            "metrics.csv", kMetricsHeader + "1,2,0.5 ,3,4,0\n", {"metrics.csv:2: column accuracy", "'0.5 '"}},
        DamageCase{"metrics.csv", kMetricsHeader + "1.5,2,0.5,3,4,0\n", {"column step", "'1.5'", "whole"}},
        DamageCase{"metrics.csv", kMetricsHeader + "-1,2,0.5,3,4,0\n", {"column step", "'-1'"}},
        DamageCase{"metrics.csv",
                   kMetricsHeader + "2,2,0.5,3,4,0\n2,2,0.5,3,4,0\n",
                   {"metrics.csv:3: column step", "steps that ascend"}},
        DamageCase{"metrics.csv", kMetricsHeader + "1,2,0.5,3,,0\n", {"column seconds", "''"}},
        DamageCase{"evaluation.csv",
                   kEvaluationHeader + "41,512,0,maybe,1,1,0\n",
                   {":2: column eval_dropout", "'maybe'"}},
        DamageCase{
            "evaluation.csv", kEvaluationHeader + "41,512,0,off,1.5,1,0\n", {":2: column accuracy", "'1.5'"}},
        DamageCase{
            "evaluation.csv", kEvaluationHeader + "41,512,0,off,nan,1,0\n", {":2: column accuracy", "'nan'"}},
        DamageCase{"evaluation.csv",
                   kEvaluationHeader + "41,64,0,off,1,1,0\n41,64,0,off,0,1,0\n",
                   {":3: column length", "once"}},
        DamageCase{"evaluation.csv",
                   kEvaluationHeader + "42,64,0,off,1,1,0\n41,64,0,off,0,1,0\n",
                   {":3: column length", "sorted by these columns"}}));

// A good status.json with one member replaced.
std::string status_with(const std::string& member, const std::string& value) {
  const ScratchFolder scratch;
  const RunFolder folder = RunFolder::create(scratch.path(), made_up_config("reverse_string", "rope"));
  folder.write_status({});
  std::string text = read_file(folder.path() / "status.json");
  const std::size_t start = text.find("\"" + member + "\": ") + member.size() + 4;
  return text.replace(start, text.find_first_of(",\n", start) - start, value);
}

INSTANTIATE_TEST_SUITE_P(
    Json, DamagedFile,
    testing::Values(
        DamageCase{"status.json", "", {"not JSON: it is empty"}},
        DamageCase{
            "status.json", "{\"state\": \"finis", {"not JSON: it ends before its last value is complete"}},
        DamageCase{"status.json", "\xFF{", {"not JSON: it begins with '\\xff'"}},
        DamageCase{"status.json",
                   "{\"step\": 1,\n \"error\": nil}",
                   {"not JSON: cannot be read from line 2, column 12 on, behind 'tep\": 1,  \"error\": n'"}},
        DamageCase{"status.json", "{\"step\": 1e999}", {"a number beyond the range of a double"}},
        DamageCase{"status.json",
                   "{\"step\": 1, \"step\": 7}",
                   {"an object has the key 'step' twice; allowed: each key once"}},
        DamageCase{"status.json", "[1]", {"found array, expected an object"}},
        DamageCase{"status.json", "{\"state\": \"finished\"}", {"'step' is missing"}},
        DamageCase{"status.json", status_with("step", "\"7\""), {"step: found \"7\", expected a whole"}},
        DamageCase{"status.json", status_with("step", "1.5"), {"step: found 1.5, expected a whole"}},
        DamageCase{"status.json", status_with("step", "-3"), {"step: found -3, expected a whole"}},
        DamageCase{"status.json", status_with("training_seconds", "null"), {"training_seconds: found null"}},
        DamageCase{"status.json", status_with("device", "3"), {"device: found 3, expected a string"}},
        DamageCase{"status.json",
                   status_with("updated", "\"\", \"stated_training\": [\"steps 5\", 6]"),
                   {"stated_training: found an array, expected a list of strings"}},
        DamageCase{"status.json",
                   status_with("state", "\"done\""),
                   {"state: found \"done\", expected one of waiting, training,"}}));

TEST_F(StoredDamage, RowsOfLengthsThatNoConfigHasAreNamed) {
  const RunFolder run =
      store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  std::vector<EvaluationRow> rows = run.evaluation();
  rows.back().length = 10'001;
  run.write_evaluation(rows);
  run.write_at_steps({{5, rows}});
  const std::string problem = "a row of length 10001; allowed: 1 to 10000; the file is damaged: ";
  expect_contains(message_of([&] { run.evaluation(); }), {"evaluation.csv: " + problem});
  expect_contains(message_of([&] { run.at_steps(); }), {"evaluation_at_steps.csv: " + problem});
}

// One file must not stop the commands that look at all runs.
TEST_F(StoredDamage, AStatusOfManyValuesIsReadOrRefusedAtOnce) {
  const RunFolder run =
      store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  for (const std::size_t count : {std::size_t{100'000}, std::size_t{1'000'000}}) {
    std::string text = "{\"x\":[{}";
    for (std::size_t i = 1; i < count; ++i) text += ",{}";
    text += "]";
    for (std::size_t i = 0; i < count / 10; ++i) text += fmt::format(",\"{}\":{{}}", i);
    write_file_atomically(run.path() / "status.json", text + "}");
    expect_contains(message_of([&] { run.status(); }),
                    {"status.json", count < 1'000'000 ? "has more than 1000 values" : "allowed: 1048576"});
  }
}

// A hole takes no room on a disk; what it stands for is not read.
TEST_F(StoredDamage, FilesThatAreMuchTooLargeAreNotRead) {
  const RunFolder run =
      store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  for (const char* const name : {"metrics.csv", "evaluation.csv", "status.json", "config.yaml"}) {
    const fs::path file = run.path() / name;
    const std::string good = read_file(file);
    fs::resize_file(file, std::uintmax_t{1} << 29);
    const std::string said = name == std::string("config.yaml")
                                 ? message_of([&] { RunFolder::open(run.path()); })
                                 : run.read().damage_text();
    expect_contains(said, {name, "it has 536870912 bytes; allowed: "});
    write_file_atomically(file, good);
  }
  const std::string row(1'000'000, ',');
  write_file_atomically(run.path() / "metrics.csv", kMetricsHeader + row + "\n");
  expect_contains(message_of([&] { run.metrics(); }), {"metrics.csv:2: found 1000001 columns"});
}

// Every stored file, cut anywhere or with any byte changed, is told as damaged.
TEST_F(StoredDamage, EveryByteCounts) {
  RunConfig small = made_up_config("reverse_string", "rope");
  const RunFolder folder = RunFolder::create(scratch_.path(), small);
  folder.write_metrics({{.step = 1, .loss = 0.5}, {.step = 2, .loss = 0.25}});
  folder.write_evaluation({{.length = 41, .samples = 512, .accuracy = 0.75, .loss = 1}});
  RunStatus status;
  status.updated = "2026-01-31T23:59:59Z";
  folder.write_status(status);
  for (const char* name : {"metrics.csv", "evaluation.csv", "status.json", "config.yaml"}) {
    const fs::path file = folder.path() / name;
    const std::string good = read_file(file);
    const auto is_damaged = [&](const std::string& content) {
      std::ofstream(file, std::ios::binary) << content;
      if (name == std::string("config.yaml"))
        return message_of([&] { RunFolder::open(folder.path()); }) != "(no error)";
      const StoredRun run = folder.read();
      return run.damage.size() == 1 && run.damage[0].file == file &&
             run.damage[0].what.starts_with(file.string());
    };
    EXPECT_FALSE(is_damaged(good)) << name;
    for (std::size_t i = 0; i < good.size(); ++i) {
      EXPECT_TRUE(is_damaged(good.substr(0, i))) << name << " cut at " << i;
      std::string flipped = good;
      flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
      EXPECT_TRUE(is_damaged(flipped)) << name << " flipped at " << i;
    }
    std::ofstream(file, std::ios::binary) << good;
  }
}

// Bytes that are no text reach neither a terminal nor a page.
TEST_F(StoredDamage, IsToldInPlainText) {
  const RunFolder folder = RunFolder::create(scratch_.path(), made_up_config("reverse_string", "rope"));
  const std::string bytes = "\x1b[31m\xff\xfe\x07" + std::string(5000, 'x') + "\n";
  for (const char* name : {"metrics.csv", "evaluation.csv", "status.json"}) {
    std::ofstream(folder.path() / name, std::ios::binary) << bytes;
  }
  const StoredRun run = folder.read();
  ASSERT_EQ(run.damage.size(), 3U);
  for (const Damage& damage : run.damage) {
    for (const char c : damage.what) EXPECT_TRUE(c >= ' ' && c <= '~') << damage.what;
    EXPECT_LT(damage.what.size(), 1000U);
  }
}

TEST_F(StoredDamage, AStatusThatIsGoneBesideResultsIsNamed) {
  const RunFolder folder =
      store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  fs::remove(folder.path() / "status.json");
  const StoredRun run = folder.read();
  EXPECT_FALSE(run.damage.empty());
  expect_contains(run.damage_text(), {"status.json: is missing", "che run"});
  std::vector<std::string> warnings;
  const FileLock lock(folder.path());
  folder.set_damage_aside([&](const std::string& warning) { warnings.push_back(warning); });
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(fs::exists(folder.path() / "evaluation.csv"));
}

TEST_F(StoredDamage, DamageIsSetAside) {
  const RunFolder folder = RunFolder::create(scratch_.path(), made_up_config("reverse_string", "rope"));
  folder.write_status({});
  folder.write_metrics({{.step = 1}});
  write_file_atomically(folder.path() / "evaluation.csv", "torn");
  std::vector<std::string> warnings;
  const FileLock lock(folder.path());
  folder.set_damage_aside([&](const std::string& warning) { warnings.push_back(warning); });
  ASSERT_EQ(warnings.size(), 1U);
  expect_contains(warnings[0], {"evaluation.csv:1:", "evaluation.csv.damaged"});
  EXPECT_TRUE(folder.read().damage.empty());
  EXPECT_EQ(folder.metrics().size(), 1U);
  EXPECT_EQ(read_file(folder.path() / "evaluation.csv.damaged"), "torn");
  write_file_atomically(folder.path() / "evaluation.csv", "torn again");
  folder.set_damage_aside([&](const std::string&) {});
  EXPECT_EQ(read_file(folder.path() / "evaluation.csv.damaged"), "torn") << "the first one is overwritten";
  EXPECT_EQ(read_file(folder.path() / "evaluation.csv.damaged.2"), "torn again");
}

// Commands that only read tables of rows go on.
TEST_F(StoredDamage, PredictionsThatAreNoFileAreDamage) {
  RunConfig config = made_up_config("reverse_string", "rope");
  config.evaluation.predictions = true;
  const RunFolder run = store_run(scratch_.path(), config, RunState::kFinished, 0.5);
  const fs::path file = run.path() / "predictions.jsonl";
  fs::create_directories(file / "inside");
  const StoredRun stored = run.read();
  ASSERT_EQ(1U, stored.damage.size());
  EXPECT_EQ(file, stored.damage[0].file);
  expect_contains(stored.damage_text(), {file.string()});
  EXPECT_FALSE(stored.evaluation.empty());
  const FileLock lock(run.path());
  EXPECT_TRUE(run.set_damage_aside([](const std::string&) {}).damage.empty());
  EXPECT_TRUE(run.read().damage.empty());
}

// An unreadable file may be good: it does not count as damaged and is neither moved nor overwritten.
TEST_F(StoredDamage, AnUnreadableFileStopsAndStays) {
  const RunFolder folder = RunFolder::create(scratch_.path(), made_up_config("reverse_string", "rope"));
  const auto expect_stop = [&](const char* name, const auto& action) {
    const fs::path file = folder.path() / name;
    std::ofstream(file) << "content";
    fs::permissions(file, fs::perms::none);
    expect_error(ErrorKind::kRuntime, {name, "Permission denied"}, [&] {
      const Unprivileged user;
      action();
    });
    fs::permissions(file, fs::perms::owner_all);
    EXPECT_EQ(read_file(file), "content") << name << " was moved";
    fs::remove(file);
  };
  const WarningSink warn = [](const std::string&) {};
  expect_stop("evaluation.csv", [&] { folder.read(); });
  expect_stop("metrics.csv", [&] { folder.set_damage_aside(warn); });
  expect_stop("status.json", [&] { folder.mark_failed("reason"); });
  expect_stop("config.yaml",
              [&] { RunFolder::at(scratch_.path(), made_up_config("reverse_string", "rope"), warn); });
  expect_stop("config.yaml", [&] { open_runs(scratch_.path(), warn); });
  const FileLock lock(folder.path());
  expect_stop("checkpoint.bin",
              [&] { load_checkpoint(folder.path(), folder.id(), 0, DamagedCheckpoints::kSetAside); });
}

}  // namespace
}  // namespace che
