#include "experiments/exchange/predictions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tasks/declared/task_definition.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using Json = nlohmann::json;

// Predictions for two lengths of parity_check and the file that they are read from; by default all right.
class Predictions : public testing::Test {
 protected:
  void SetUp() override {
    std::string text;
    write_samples({.task = task_, .lengths = {5, 9}, .samples = 64, .seed = 2},
                  [&](std::string_view part) { text += part; });
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      Json object = Json::parse(line);
      if (lines_.empty()) {
        object["format"] = "che-predictions/1";
        object["model"] = "lstm";
      } else {
        object.erase("input");
        object.erase("mask");
      }
      lines_.push_back(object.dump());
    }
  }

  // Line `number`, from 1, after `change`.
  void change(std::size_t number, const std::function<void(Json&)>& change) {
    Json object = Json::parse(lines_.at(number - 1));
    change(object);
    lines_[number - 1] = object.dump();
  }

  ScoredPredictions score() const {
    std::ofstream file(path(), std::ios::trunc);
    for (const std::string& line : lines_) file << line << "\n";
    file.close();
    return score_predictions(path());
  }
  std::string refusal() const {
    return message_of([&] { score(); });
  }
  std::filesystem::path path() const { return scratch_.path() / "predictions.jsonl"; }

  std::string task_ = "parity_check";
  std::vector<std::string> lines_;

 private:
  ScratchFolder scratch_;
};

TEST_F(Predictions, ThatAreRightScoreOne) {
  const ScoredPredictions scored = score();
  EXPECT_EQ("lstm", scored.model);
  ASSERT_EQ(2U, scored.rows.size());
  EXPECT_EQ(5, scored.rows[0].length);
  EXPECT_EQ(9, scored.rows[1].length);
  for (const EvaluationRow& row : scored.rows) {
    EXPECT_DOUBLE_EQ(1, row.accuracy);
    EXPECT_EQ(64, row.samples);
    EXPECT_EQ(2, row.seed);
    EXPECT_TRUE(std::isnan(row.loss));
  }
}

TEST_F(Predictions, AreCountedSymbolBySymbol) {
  for (std::size_t line = 2; line < 2 + 16; ++line) {
    change(line, [](Json& sample) { sample["output"][0] = 1 - sample["output"][0].get<int>(); });
  }
  EXPECT_DOUBLE_EQ(0.75, score().rows[0].accuracy);
  EXPECT_DOUBLE_EQ(1, score().rows[1].accuracy);
}

TEST_F(Predictions, DoNotCountBehindTheTerminator) {
  task_ = "binary_addition";
  lines_.clear();
  SetUp();
  bool has_padding = false;
  for (std::size_t line = 2; line <= lines_.size(); ++line) {
    change(line, [&](Json& sample) {
      const auto terminator = std::find(sample["output"].begin(), sample["output"].end(), 2);
      for (auto symbol = terminator + 1; symbol < sample["output"].end(); ++symbol) {
        *symbol = 1;
        has_padding = true;
      }
    });
  }
  ASSERT_TRUE(has_padding);
  EXPECT_DOUBLE_EQ(1, score().rows[0].accuracy);
}

TEST_F(Predictions, ThatArePartialOrTooManyAreRefused) {
  const std::string last = lines_.back();
  lines_.pop_back();
  EXPECT_NE(refusal().find("predictions.jsonl:128: the file ends before sample 63 of length 9"),
            std::string::npos)
      << refusal();
  lines_.push_back(last);
  lines_.push_back(last);
  EXPECT_NE(refusal().find(":130: a surplus sample"), std::string::npos) << refusal();
  lines_.clear();
  EXPECT_NE(refusal().find("the file is empty"), std::string::npos) << refusal();
}

TEST_F(Predictions, NameLineAndFieldOfWhatIsWrong) {
  struct Case {
    std::size_t line;
    std::function<void(Json&)> change;
    std::string words;
  };
  const std::vector<Case> cases = {
      {1, [](Json& header) { header["format"] = "che-samples/1"; },
       ":1: format: got che-samples/1; allowed: che-predictions/1; these are samples"},
      {1, [](Json& header) { header["format"] = "csv"; }, ":1: format: got csv; allowed: che-predictions/1"},
      {1, [](Json& header) { header.erase("model"); }, ":1: 'model' is missing"},
      {1, [](Json& header) { header["model"] = "a/b"; }, ":1: model: allowed: a name of"},
      {1, [](Json& header) { header["model"] = ".."; }, ":1: model: allowed: a name of"},
      {1, [](Json& header) { header["task"] = "parity_chek"; }, "did you mean 'parity_check'"},
      {1, [](Json& header) { header["task"] = 3; }, ":1: task: expected text"},
      {1,
       [](Json& header) {
         header["options"] = {{"order", "up"}};
       },
       "order"},
      {1,
       [](Json& header) {
         header["lengths"] = {9, 5};
       },
       ":1: lengths: expected ascending"},
      {1, [](Json& header) { header["lengths"] = Json::array(); }, ":1: lengths: the list is empty"},
      {1, [](Json& header) { header["lengths"] = {0}; }, "length 0 is out of range"},
      {1, [](Json& header) { header["input_symbols"] = "ba"; },
       ":1: input_symbols: got 'ba'; parity_check has '01'"},
      {1, [](Json& header) { header["task_version"] = 2; },
       ":1: task_version: the predictions are for version 2 of parity_check; this che draws version 1"},
      {1, [](Json& header) { header["model"] = "rope"; }, ":1: model: 'rope' is an encoding of che"},
      {1, [](Json& header) { header["samples"] = 65; }, ":1: samples: got 65; allowed: multiples of 64"},
      {1, [](Json& header) { header["seed"] = -1; }, ":1: seed: got -1; allowed: 0 or more"},
      {1, [](Json& header) { header["seeed"] = 1; }, ":1: unknown field 'seeed'; did you mean 'seed'?"},
      {1, [](Json& header) { header["suite"] = "che-14/v2"; },
       ":1: suite: unknown suite 'che-14/v2'; did you mean 'che-14/v1'?"},
      {1, [](Json& header) { header["suite"] = "che-14/v1"; }, ":1: lengths: suite che-14/v1 has 41 to 500"},
      {2, [](Json& sample) { sample["index"] = 1; }, ":2: expected length 5 and index 0"},
      {3,
       [](Json& sample) {
         sample["output"] = {0, 1};
       },
       ":3: output: got 2 symbols; this sample has 1"},
      {4, [](Json& sample) { sample["output"] = {2}; },
       ":4: output: got 2 at position 0; allowed: whole numbers, 0 to 1"},
      {5, [](Json& sample) { sample["output"] = {-1}; }, ":5: output: got -1 at"},
      {6, [](Json& sample) { sample["output"] = {0.5}; }, ":6: output: got 0.5 at"},
      {6, [](Json& sample) { sample["output"] = {"0"}; }, ":6: output: got a string at position 0"},
      {7, [](Json& sample) { sample["output"] = "0"; }, ":7: output: expected a list"},
      {8, [](Json& sample) { sample["input"] = Json::array(); }, ":8: unknown field 'input'"},
      {9, [](Json& sample) { sample = Json::array(); }, ":9: got array; allowed: one JSON object a line"},
  };
  const std::vector<std::string> good = lines_;
  for (const Case& wrong : cases) {
    lines_ = good;
    change(wrong.line, wrong.change);
    EXPECT_NE(refusal().find(wrong.words), std::string::npos) << wrong.words << "\n" << refusal();
  }
  lines_ = good;
  lines_[1] = std::string(100'000, '[');
  EXPECT_NE(refusal().find(":2: nested more than 4 deep"), std::string::npos) << refusal();
  lines_[1] = R"({"length":5,"index":0,"output":[)";
  EXPECT_NE(refusal().find(":2: not JSON: it ends before its last value is complete"), std::string::npos)
      << refusal();
  lines_[1] = R"({"length":5,"index":,"output":[0]})";
  EXPECT_NE(
      refusal().find(":2: not JSON: cannot be read from column 21 on, behind '{\"length\":5,\"index\":'"),
      std::string::npos)
      << refusal();
  EXPECT_NE(refusal().find("allowed: one JSON object a line"), std::string::npos) << refusal();
}

TEST_F(Predictions, OfATaskOfAFileCarryItsDefinition) {
  const TaskDefinition definition = parse_task_definition(
      "name: no_three\nsymbols: [a, b]\nanswer: accept\nautomaton: \"0 1 a\\n0 0 b\\n1 0 b\\n0\\n1\\n\"\n",
      "x");
  std::string text;
  write_samples({.task = definition.name,
                 .definition = definition.canonical(),
                 .lengths = {6},
                 .samples = 64,
                 .seed = 2},
                [&](std::string_view part) { text += part; });
  lines_.clear();
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    Json object = Json::parse(line);
    if (lines_.empty()) {
      EXPECT_EQ(object["definition"], definition.canonical());
      object["format"] = "che-predictions/1";
      object["model"] = "lstm";
    } else {
      object.erase("input");
      object.erase("mask");
    }
    lines_.push_back(object.dump());
  }
  EXPECT_EQ(score().rows.at(0).accuracy, 1);
  change(1, [](Json& header) { header["task"] = "other"; });
  EXPECT_THAT(refusal(), testing::HasSubstr(":1: the definition is of 'no_three', the task is 'other'"));
  change(1, [](Json& header) { header["definition"] = "name: [x"; });
  EXPECT_THAT(refusal(), testing::HasSubstr(":1: definition:1: "));
}

}  // namespace
}  // namespace che
