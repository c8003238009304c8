// Results that version 0.1.0 stored, see tests/stored/0.1.0/README.md: two finished runs, and one that was
// interrupted at step 210 of 600. Its numbers are those of another processor, so that sums may differ in
// rounding.
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/store/csv.h"
#include "tests/cli/program_test.h"

namespace che {
namespace {

const std::filesystem::path kStored = CHE_SOURCE_DIR "/tests/stored/0.1.0";
const std::string kConfig = (kStored / "stored.yaml").string();

class StoredResults : public ProgramTest {
 protected:
  StoredResults() {
    std::filesystem::copy(kStored / "results", results(), std::filesystem::copy_options::recursive);
  }

  // evaluation.csv of each run, by the run's id.
  static std::map<std::string, std::string> evaluations(const std::filesystem::path& runs) {
    std::map<std::string, std::string> files;
    for (const auto& [path, content] : contents(runs, "evaluation.csv")) {
      files[std::filesystem::path(path).parent_path().string()] = content;
    }
    return files;
  }

  static CsvRows rows_of(const std::string& evaluation) {
    return {"evaluation.csv",
            evaluation,
            {"length", "samples", "seed", "eval_dropout", "accuracy", "loss", "checksum"},
            "mend"};
  }
};

TEST_F(StoredResults, AreReadUnchanged) {
  const auto before = everything(results());
  const Outcome status = che({"status", results()});
  EXPECT_EQ(0, status.exit_code) << status.output;
  expect_contains(status.output, {"3 runs: 2 finished, 1 interrupted", "step 210/600"});
  const Outcome table = che({"table", results(), "--format", "csv"});
  EXPECT_EQ(0, table.exit_code) << table.output;
  // The scores that version 0.1.0 printed, under today's names of the settings.
  expect_contains(table.output, {"odds_first(order=odd_first),t5(table=per_layer)", "0.62502289",
                                 "normalizer=query", "0.546875"});
  EXPECT_EQ(before, everything(results()));
}

TEST_F(StoredResults, AreResumed) {
  const auto before = everything(results());
  const Outcome run = che({"run", kConfig, "-o", results(), "-w", "1"});
  ASSERT_EQ(0, run.exit_code) << run.output;
  expect_contains(run.output, {"the old words are still read", "3 runs, 2 done, 1 to do"});
  const auto after = everything(results());
  for (const auto& [path, content] : before) {
    const std::string name = std::filesystem::path(path).filename().string();
    // The config file gets the words of today.
    if (contains(path, "reverse_string") || contains(name, "lock") || name == "config.yaml") continue;
    EXPECT_EQ(content, after.at(path)) << path;
  }
  // The interrupted run went on from its checkpoint: the rows before it are those of version 0.1.0.
  const auto metrics = contents(results(), "metrics.csv");
  for (const auto& [path, content] : contents(kStored / "results", "metrics.csv")) {
    const auto rows = [](const std::string& csv) {  // Without the checksum that ends each row.
      std::vector<std::string> kept;
      std::istringstream lines(csv);
      for (std::string line; std::getline(lines, line);) kept.push_back(line.substr(0, line.rfind(',')));
      return kept;
    };
    const auto stored = rows(content);
    auto now = rows(metrics.at(path));
    ASSERT_LE(stored.size(), now.size());
    now.resize(stored.size());
    EXPECT_EQ(stored, now) << path;
  }
}

// The same numbers as those of a run that nothing interrupted, at the lengths of the config and at one more.
TEST_F(StoredResults, GiveTheNumbersOfVersion010) {
  ASSERT_EQ(0, che({"run", kConfig, "-o", results(), "-w", "1"}).exit_code);
  const Outcome evaluate = che({"evaluate", results(), "--lengths", "20:20", "--samples", "64"});
  ASSERT_EQ(0, evaluate.exit_code) << evaluate.output;
  const auto stored = evaluations(kStored / "uninterrupted");
  const auto now = evaluations(std::filesystem::path(results()) / "runs");
  ASSERT_EQ(3U, stored.size());
  ASSERT_EQ(stored.size(), now.size());
  for (const auto& [run, content] : stored) {
    SCOPED_TRACE(run);
    const CsvRows expected = rows_of(content);
    const CsvRows found = rows_of(now.at(run));
    ASSERT_EQ(4U, expected.size());
    ASSERT_EQ(expected.size(), found.size());
    for (std::size_t row = 0; row < expected.size(); ++row) {
      for (std::size_t column = 0; column < 4; ++column) {  // Length, samples, seed, dropout.
        EXPECT_EQ(expected.text(row, column), found.text(row, column)) << "row " << row;
      }
      EXPECT_NEAR(expected.real(row, 4), found.real(row, 4), 0.02) << "accuracy, row " << row;
      EXPECT_NEAR(expected.real(row, 5), found.real(row, 5), 1e-3) << "loss, row " << row;
    }
  }
}

}  // namespace
}  // namespace che
