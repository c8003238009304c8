#include "experiments/store/run_rows.h"

#include <gtest/gtest.h>

#include "experiments/plan/evaluation_settings.h"
#include "experiments/store/run_files.h"
#include "tests/contains.h"
#include "tests/message_of.h"

namespace che {
namespace {

EvaluationRow row(std::int64_t length, std::int64_t samples, double accuracy) {
  return {.length = length,
          .samples = samples,
          .seed = 0,
          .eval_dropout = false,
          .accuracy = accuracy,
          .loss = 0};
}

TEST(EvaluationRows, AreKeptInOneOrderWhateverTheOrderOfMeasuring) {
  std::vector<EvaluationRow> rows;
  for (const EvaluationRow& one : {row(9, 64, 0.1), row(7, 128, 0.2), row(7, 64, 0.3), row(9, 64, 0.4)}) {
    store_row(rows, one);
  }
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].accuracy, 0.3);
  EXPECT_EQ(rows[1].accuracy, 0.2);
  EXPECT_EQ(rows[2].accuracy, 0.4) << "a row of the same key is replaced";
}

TEST(EvaluationRows, MissingLengthsAreThoseOfTheAskedMeasurement) {
  RunConfig asked;
  asked.evaluation = {.first_length = 7, .last_length = 9, .samples = 64};
  EXPECT_EQ(missing_lengths({row(7, 64, 1), row(8, 128, 1)}, asked), (std::vector<std::int64_t>{8, 9}));
  EXPECT_TRUE(missing_lengths({row(7, 64, 1), row(8, 64, 1), row(9, 64, 1)}, asked).empty());
}

TEST(EvaluationRows, WindowsAreAskedOfEachLengthAndACurveOfTheLongestAlone) {
  RunConfig asked;
  asked.text.corpus = "any";
  asked.evaluation = {.samples = 64, .listed_lengths = {16, 40}, .of_text = true};
  std::vector<EvaluationRow> rows = {row(16, 64, 1), row(40, 64, 1)};
  for (EvaluationRow& one : rows) one.encoding_settings = evaluation_settings(asked);
  EXPECT_EQ(lengths_to_measure(rows, asked), (std::vector<std::int64_t>{16, 40})) << "without windows";
  for (EvaluationRow& one : rows) one.windows = {{.window = {}, .loss = 1}};
  EXPECT_TRUE(lengths_to_measure(rows, asked).empty());
  asked.evaluation.text.curve = true;
  EXPECT_EQ(lengths_to_measure(rows, asked), (std::vector<std::int64_t>{40}));
  EXPECT_TRUE(missing_lengths(rows, asked).empty()) << "its score is there";
  EXPECT_EQ(lengths_to_measure({}, asked), (std::vector<std::int64_t>{16, 40}));
  rows[1].positions = {{.first = 0, .count = 40, .loss = 1}};
  EXPECT_TRUE(lengths_to_measure(rows, asked).empty());
}

TEST(EvaluationRows, HaveLengthsThatAConfigCanAskFor) {
  const auto problem = [](std::int64_t length, bool of_text) {
    return message_of([&] {
      check_lengths({row(41, 64, 1), row(length, 64, 1)}, of_text, "x.csv", "run again");
    });
  };
  EXPECT_EQ(problem(10'000, false), "(no error)");
  EXPECT_EQ(problem(1'000'000, true), "(no error)");
  EXPECT_EQ(problem(10'001, false),
            "x.csv: a row of length 10001; allowed: 1 to 10000; the file is damaged: run again");
  for (const std::int64_t length :
       {std::int64_t{0}, std::int64_t{1'000'001}, std::numeric_limits<std::int64_t>::max()})
    expect_contains(problem(length, true), {"allowed: 1 to 1000000"});
}

TEST(EvaluationRows, BinsOfPositionsAreNarrowAtTheBeginning) {
  EXPECT_EQ(position_bin_end(0, 512), 16);
  EXPECT_EQ(position_bin_end(240, 512), 256);
  EXPECT_EQ(position_bin_end(256, 512), 320);
  EXPECT_EQ(position_bin_end(480, 490), 490);
}

TEST(EvaluationRows, TheScoresErrorIsThatOfAMeanOfIndependentLengths) {
  std::vector<EvaluationRow> rows = {row(7, 128, 0.5), row(8, 128, 0.75)};
  EXPECT_FALSE(mean_error(rows).has_value()) << "rows of earlier versions have none";
  rows[0].accuracy_se = 0.03;
  EXPECT_FALSE(mean_error(rows).has_value());
  rows[1].accuracy_se = 0.04;
  EXPECT_DOUBLE_EQ(0.025, *mean_error(rows));
  EXPECT_FALSE(mean_error({}).has_value()) << "there is no score";
}

// One number of a file that other programs read, too, is not passed over.
TEST(RunRows, OfWindowsAndPositionsHaveTheKeyOfTheirRow) {
  EvaluationRow row{.length = 400, .samples = 64, .seed = 1};
  row.windows.assign(3, {.window = {.document = 5, .end = 1000}, .loss = 2});
  for (std::int64_t first = 0; first < row.length; first = position_bin_end(first, row.length)) {
    row.positions.push_back(
        {.first = first, .count = position_bin_end(first, row.length) - first, .loss = 2});
  }
  const auto message = [&](std::string text, const auto& parse) {
    EXPECT_EQ("(no error)", message_of([&] { parse(text, "run", "file.csv"); }));
    const std::size_t second = text.find("\n400,", text.find("\n400,") + 1);
    text.replace(second + 1, 1, "7");
    return message_of([&] { parse(text, "run", "file.csv"); });
  };
  for (const std::string& found : {message(windows_text({row}, "run"), parse_windows),
                                   message(positions_text({row}, "run"), parse_positions)}) {
    expect_contains(found, {"file.csv:3: column length: found '700', expected 400"});
  }
}

}  // namespace
}  // namespace che
