#include "experiments/published/quoted_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "core/files.h"
#include "tasks/suite.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

// The rows of the suite regular-4/v1. The table that they are from also has the mean over the tasks.
TEST(QuotedScores, OfTheRegularTasksHaveTheMeansThatThePaperPrints) {
  const auto quoted = read_quoted_scores(std::filesystem::path(CHE_SOURCE_DIR) / "data" / "regular-4");
  std::map<std::string, double> sums;
  std::map<std::string, std::set<std::string>> tasks;
  for (const QuotedScore& one : quoted) {
    sums[one.model] += one.score;
    tasks[one.model].insert(one.task);
    EXPECT_EQ("arXiv 2509.22284 Table 2", one.source);
  }
  EXPECT_EQ(17U, sums.size());
  const Suite& suite = find_suite("regular-4/v1");
  for (const auto& [model, of_model] : tasks) {
    EXPECT_EQ(suite.tasks.size(), of_model.size()) << model;
    for (const auto& task : suite.tasks) EXPECT_TRUE(of_model.contains(task)) << model;
  }
  const std::map<std::string, double> means{
      {"lstm", 100.0},  {"transformer", 47.7}, {"mamba", 60.8},        {"c_diag", 73.6},
      {"rwkv_7", 54.6}, {"bd4_lncde", 81.3},   {"d_de16_lncde", 83.6}, {"pd_ssm", 98.8}};
  for (const auto& [model, mean] : means) EXPECT_NEAR(mean, 25 * sums.at(model), 0.06) << model;
}

// Spreadsheets write a byte order mark, carriage returns and no last line's end.
TEST(QuotedScores, AreReadAsSpreadsheetsWriteThem) {
  const ScratchFolder folder;
  write_file_atomically(folder.path() / kQuotedFile,
                        "\xEF\xBB\xBFtask,model,score,source\r\nparity_check,lstm,-0,a table");
  const auto quoted = read_quoted_scores(folder.path());
  ASSERT_EQ(1U, quoted.size());
  EXPECT_EQ("parity_check", quoted[0].task);
  EXPECT_EQ("a table", quoted[0].source);
  EXPECT_FALSE(std::signbit(quoted[0].score));
}

TEST(QuotedScores, HaveOneLineForATaskAndModel) {
  const ScratchFolder folder;
  write_file_atomically(
      folder.path() / kQuotedFile,
      "task,model,score,source\nparity_check,gru,0.5,a\neven_pairs,gru,0.6,a\nparity_check,gru,0.7,b\n");
  expect_contains(message_of([&] { read_quoted_scores(folder.path()); }), {":4: column model: found 'gru'"});
}

TEST(QuotedScores, AreNotReadFromALongFile) {
  const ScratchFolder folder;
  write_file_atomically(folder.path() / kQuotedFile, "task,model,score,source\n");
  std::filesystem::resize_file(folder.path() / kQuotedFile, (std::uintmax_t{256} << 10) + 1);
  expect_contains(message_of([&] { read_quoted_scores(folder.path()); }), {kQuotedFile, "bytes; allowed: "});
}

}  // namespace
}  // namespace che
