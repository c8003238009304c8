#include "experiments/exchange/predictions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files.h"
#include "experiments/exchange/stored_predictions.h"
#include "tasks/declared/task_definition.h"
#include "tasks/suite.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"
#include "tests/zstd_frame.h"

namespace che {
namespace {

using Json = nlohmann::json;

std::map<std::string, std::string> files_of(const RunFolder& run) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(run.path()))
    files.emplace(entry.path().filename().string(), read_file(entry.path()));
  return files;
}

// Predictions for two lengths of parity_check and the file that they are read from; by default all right.
class Predictions : public testing::Test {
 protected:
  double symbols_ = 0;

  void SetUp() override { predict({.task = "parity_check", .lengths = {5, 9}, .samples = 64, .seed = 2}); }

  // Right predictions for these samples.
  void predict(const SampleHeader& samples) {
    std::string text;
    write_samples(samples, [&](std::string_view part) { text += part; });
    lines_.clear();
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      Json object = Json::parse(line);
      if (lines_.empty()) {
        object["format"] = "che-predictions/1";
        object["model"] = "my_lstm";
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

  std::vector<std::string> lines_;

 private:
  ScratchFolder scratch_;
};

TEST_F(Predictions, ThatAreRightScoreOne) {
  predict({.task = "parity_check", .lengths = {5, 9}, .samples = 576, .seed = 2});
  const ScoredPredictions scored = score();
  EXPECT_EQ("my_lstm", scored.model);
  ASSERT_EQ(2U, scored.rows.size());
  EXPECT_EQ(5, scored.rows[0].length);
  EXPECT_EQ(9, scored.rows[1].length);
  for (const EvaluationRow& row : scored.rows) {
    EXPECT_EQ(1, row.accuracy);
    EXPECT_EQ(576, row.samples);
    EXPECT_EQ(2, row.seed);
    EXPECT_TRUE(std::isnan(row.loss));
  }
}

TEST_F(Predictions, ThatNoResultsMayHaveAreRefusedByTheirHeader) {
  change(1, [](Json& header) { header["lengths"] = {5, 20'000}; });
  lines_.resize(1);  // The samples are not read.
  expect_contains(refusal(), {"ends before sample 0"});
  const std::filesystem::path results = path().parent_path() / "results";
  expect_contains(message_of([&] { score_files({path().string()}, results); }),
                  {"predictions.jsonl:1:", "20000", "10000"});
  EXPECT_FALSE(std::filesystem::exists(results));
}

TEST_F(Predictions, SayHowTheirModelWasTrained) {
  EXPECT_EQ("", score().stated_training);
  change(1, [](Json& header) {
    header["data_seed"] = 4;
    header["training"] = {{"steps", 1000},       {"batch_size", 128},   {"learning_rate", 0.003},
                          {"parameters", 33730}, {"note", "one\ncore"}, {"training_accuracy", 1}};
  });
  EXPECT_EQ(
      "steps 1000, batch_size 128, parameters 33730, learning_rate 0.003, training_accuracy 1, "
      "one core, che's batches of data_seed 4",
      score().stated_training);
}

TEST_F(Predictions, OfASuiteAnswerItsSamples) {
  predict({.task = "even_pairs",
           .suite = "quick/v1",
           .lengths = find_suite("quick/v1").lengths(),
           .samples = 256});
  EXPECT_EQ(10U, score().rows.size());
  change(1, [](Json& header) { header["seed"] = 1; });
  expect_contains(refusal(), {":1: seed: suite quick/v1 has 0"});
  change(1, [](Json& header) { header["samples"] = 64; });
  expect_contains(refusal(), {":1: samples: suite quick/v1 has 256"});
}

// Rows are checked against the kept predictions of their samples; others have none.
TEST_F(Predictions, ThatAreKeptAreScoredAgain) {
  const ScoredPredictions scored = score();
  const RunFolder run = store_predictions(path().parent_path() / "results", scored);
  const std::map<std::string, std::string> files = files_of(run);
  ASSERT_EQ(1,
            std::ranges::count_if(files, [](const auto& file) { return is_kept_predictions(file.first); }));
  std::vector<EvaluationRow> rows = scored.rows;
  rows.push_back({.length = 70, .samples = 64, .seed = 2, .accuracy = 0.5});
  EXPECT_EQ(1U, check_kept_predictions(run.config(), rows, files, "run", symbols_)) << "none of length 70";
  rows[0].accuracy = 0.5;
  const auto message = [&](const RunConfig& config) {
    return message_of([&] { check_kept_predictions(config, rows, files, "run", symbols_); });
  };
  expect_contains(message(run.config()), {"run/evaluation.csv: has the accuracy 0.5 at length 5", "have 1;"});
  rows[0] = scored.rows[0];
  rows[0].accuracy_se = 0.125;
  expect_contains(message(run.config()),
                  {"has the accuracy 1 (standard error 0.125) at length 5", "have 1;"});
  RunConfig other = run.config();
  other.seed = 7;
  expect_contains(message(other), {"has predictions of another run"});
}

// A small file can have many samples of one symbol's answer, which take hours to draw.
TEST_F(Predictions, ForTooManySamplesAreNotKept) {
  ScoredPredictions scored = score();
  std::vector<std::string> warnings;
  const auto is_kept = [&](std::int64_t samples, const std::string& folder) {
    scored.header.samples = samples;
    scored.header.lengths = {10'000};
    const RunFolder run = store_predictions(path().parent_path() / folder, scored,
                                            [&](const std::string& text) { warnings.push_back(text); });
    return std::ranges::any_of(files_of(run),
                               [](const auto& file) { return is_kept_predictions(file.first); });
  };
  EXPECT_TRUE(is_kept(49'984, "some"));
  EXPECT_EQ(0U, warnings.size());
  EXPECT_FALSE(is_kept(50'048, "more"));
  expect_contains(warnings.back(),
                  {"are not kept", "for samples of 500480000 symbols; allowed: 67108864 and 500000000"});
}

TEST_F(Predictions, OfAFileARunAndABundleHaveABound) {
  const RunConfig config = prediction_config(score());
  const auto kept = files_of(store_predictions(path().parent_path() / "run", score()));
  double symbols = 0;
  const auto header_of = [&](std::int64_t samples) {
    change(1, [&](Json& header) {
      header["samples"] = samples;
      header["lengths"] = {10'000};
    });
    return zstd_frame(lines_[0] + "\n" + lines_[1] + "\n");
  };
  const auto message = [&](std::int64_t samples, std::map<std::string, std::string> files = {}) {
    files["predictions-ffffffffffff.jsonl.zst"] = header_of(samples);
    return message_of([&] { check_kept_predictions(config, {}, files, "run", symbols); });
  };
  expect_contains(message(199'936), {":1: has predictions of another run or of other samples"});
  expect_contains(message(200'064),
                  {"samples: the samples have 2000640000 symbols; allowed: up to 2000000000"});
  expect_contains(message(200'000, kept),
                  {":1: the run's predictions are for samples of 2000000896 symbols; allowed: 2000000000"});
  symbols = 2e10 - 640'000;
  expect_contains(message(64), {":1: has predictions of another run or of other samples"});
  expect_contains(message(64), {":1: the bundle's predictions are for samples of 20000640000 symbols; "
                                "allowed: 20000000000"});
}

// As a full disk leaves them, or a kill.
TEST_F(Predictions, ThatAreStoredInPartAreNoResult) {
  const std::filesystem::path results = path().parent_path() / "results";
  const ScoredPredictions scored = score();
  const RunFolder run = store_predictions(results, scored);
  for (const auto& [name, content] : files_of(run)) {
    if (!is_kept_predictions(name)) continue;
    std::filesystem::remove(run.path() / name);
    std::filesystem::create_directories(run.path() / name / "in_the_way");
  }
  EXPECT_NE("(no error)", message_of([&] { store_predictions(results, scored); }));
  EXPECT_EQ(RunState::kFailed, run.status().state);
  expect_contains(run.status().error, {"score the predictions again"});
}

// Predictions of one model at the same samples are the same; others take the place of all that it has.
TEST_F(Predictions, ThatDifferFromEarlierOnesReplaceThemAll) {
  const std::filesystem::path results = path().parent_path() / "results";
  const ScoredPredictions right = score();
  store_predictions(results, right);
  predict({.task = "parity_check", .lengths = {5, 13}, .samples = 64, .seed = 2});
  for (std::size_t line = 2; line < 2 + 64; line += 2) {
    change(line, [](Json& sample) { sample["output"][0] = 1 - sample["output"][0].get<int>(); });
  }
  const ScoredPredictions wrong = score();
  const RunFolder run = store_predictions(results, wrong, [](const std::string&) {});
  const auto files = files_of(run);
  EXPECT_EQ(1,
            std::ranges::count_if(files, [](const auto& file) { return is_kept_predictions(file.first); }));
  EXPECT_EQ(0U, check_kept_predictions(run.config(), run.evaluation(), files, "run", symbols_));
  expect_contains(
      message_of([&] { check_kept_predictions(run.config(), right.rows, files, "run", symbols_); }),
      {"has the accuracy 1 at length 5", "have 0.5"});
}

TEST_F(Predictions, AreCountedSymbolBySymbol) {
  for (std::size_t line = 2; line < 2 + 16; ++line) {
    change(line, [](Json& sample) { sample["output"][0] = 1 - sample["output"][0].get<int>(); });
  }
  EXPECT_DOUBLE_EQ(0.75, score().rows[0].accuracy);
  EXPECT_DOUBLE_EQ(1, score().rows[1].accuracy);
}

TEST_F(Predictions, HaveTheStandardErrorOfTheirBatches) {
  EXPECT_FALSE(score().rows[0].accuracy_se) << "a single batch";
  predict({.task = "parity_check", .lengths = {5}, .samples = 128, .seed = 2});
  EXPECT_EQ(score().rows[0].accuracy_se, 0);
  for (std::size_t line = 2; line < 2 + 16; ++line) {
    change(line, [](Json& sample) { sample["output"][0] = 1 - sample["output"][0].get<int>(); });
  }
  // Batches of 0.75 and 1.
  EXPECT_DOUBLE_EQ(*score().rows[0].accuracy_se, 0.125);
}

TEST_F(Predictions, DoNotCountBehindTheTerminator) {
  predict({.task = "binary_addition", .lengths = {5, 9}, .samples = 64, .seed = 2});
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
  expect_contains(refusal(), {"predictions.jsonl:128: the file ends before sample 63 of length 9"});
  lines_.push_back(last);
  lines_.push_back(last);
  expect_contains(refusal(), {":130: a surplus sample"});
  lines_.clear();
  expect_contains(refusal(), {"the file is empty"});
}

TEST_F(Predictions, NameLineAndFieldOfWhatIsWrong) {
  struct Case {
    std::size_t line;
    const char* patch;  // It changes the object on the line; null removes a field.
    const char* words;
  };
  const std::vector<Case> cases = {
      {1, R"({"format": "che-samples/1"})",
       ":1: format: got che-samples/1; allowed: che-predictions/1; these are samples"},
      {1, R"({"format": "csv"})", ":1: format: got csv; allowed: che-predictions/1"},
      {1, R"({"model": null})", ":1: 'model' is missing"},
      {1, R"({"model": "a/b"})", ":1: model: allowed: a name of"},
      {1, R"({"model": ".."})", ":1: model: allowed: a name of"},
      {1, R"({"task": "parity_chek"})", "did you mean 'parity_check'"},
      {1, R"({"task": 3})", ":1: task: expected text"},
      {1, R"({"options": {"order": "up"}})", "order"},
      {1, R"({"lengths": [9, 5]})", ":1: lengths: expected ascending"},
      {1, R"({"lengths": []})", ":1: lengths: the list is empty"},
      {1, R"({"lengths": [0]})", "length 0 is out of range"},
      {1, R"({"input_symbols": "ba"})", ":1: input_symbols: got 'ba'; parity_check has '01'"},
      {1, R"({"task_version": 2})",
       ":1: task_version: the predictions are for version 2 of parity_check; this che draws version 1"},
      {1, R"({"model": "rope"})", ":1: model: 'rope' is an encoding of che"},
      {1, R"({"model": "lstm"})", ":1: model: 'lstm' is a model of che"},
      {1, R"({"samples": 65})", ":1: samples: got 65; allowed: multiples of 64"},
      {1, R"({"seed": -1})", ":1: seed: got -1; allowed: whole numbers from 0 to 9007199254740992"},
      {1, R"({"model_seed": 9007199254740993})",
       ":1: model_seed: got 9007199254740993; allowed: whole numbers"},
      {1, R"({"seeed": 1})", ":1: unknown field 'seeed'; did you mean 'seed'?"},
      {1, R"({"suite": "che-14/v2"})", ":1: suite: unknown suite 'che-14/v2'; did you mean 'che-14/v1'?"},
      {1, R"({"suite": "che-14/v1"})", ":1: lengths: suite che-14/v1 has 41 to 500"},
      {1, R"({"suite": "quick/v1"})", ":1: task: suite quick/v1 has no task 'parity_check'"},
      {1, R"({"suite": "che-14/v1", "options": {"order": "up"}})",
       ":1: options: suite che-14/v1 has default options only"},
      {1, R"({"training": 7})", ":1: training: expected an object"},
      {1, R"({"training": {"step": 3}})", ":1: unknown field 'step'; did you mean 'steps'?"},
      {1, R"({"training": {"steps": 0}})", ":1: steps: got 0; allowed: whole numbers from 1"},
      {1, R"({"training": {"training_accuracy": 99.8}})",
       ":1: training.training_accuracy: got 99.8; allowed: 0 to 1"},
      {2, R"({"index": 1})", ":2: expected length 5 and index 0"},
      {3, R"({"output": [0, 1]})", ":3: output: got 2 symbols; this sample has 1"},
      {4, R"({"output": [2]})", ":4: output: got 2 at position 0; allowed: whole numbers, 0 to 1"},
      {5, R"({"output": [-1]})", ":5: output: got -1 at"},
      {6, R"({"output": [0.5]})", ":6: output: got 0.5 at"},
      {6, R"({"output": ["0"]})", ":6: output: got a string at position 0"},
      {7, R"({"output": "0"})", ":7: output: expected a list"},
      {8, R"({"input": []})", ":8: unknown field 'input'"},
      {9, "[]", ":9: got array; allowed: one JSON object a line"},
  };
  const std::vector<std::string> good = lines_;
  for (const Case& wrong : cases) {
    lines_ = good;
    change(wrong.line, [&](Json& object) { object.merge_patch(Json::parse(wrong.patch)); });
    expect_contains(refusal(), {wrong.words});
  }
  lines_ = good;
  lines_[1] = std::string(1000, '[');
  expect_contains(refusal(), {":2: nested more than 4 deep"});
  // No more of a line is read or parsed than a header or a sample of one symbol may have.
  lines_[1] = R"({"length":5,"index":0,"output":[0],"output":[1]})";
  expect_contains(refusal(), {":2: an object has the key 'output' twice; allowed: each key once"});
  lines_[1] = R"({"length":5,"index":0,"output":[0)" + std::string(1100, ' ') + "]}";
  expect_contains(refusal(), {":2: has more than 1032 bytes"});
  lines_ = good;
  change(1, [](Json& header) { header["lengths"] = std::vector<int>(100'000, 7); });
  expect_contains(refusal(), {":1: has more than 100000 values"});
  change(1, [](Json& header) { header["lengths"] = std::string(8 << 20, '7'); });
  expect_contains(refusal(), {":1: has more than 8388608 bytes"});
  lines_ = good;
  lines_[1] = R"({"length":5,"index":0,"output":[)";
  expect_contains(refusal(), {":2: not JSON: it ends before its last value is complete"});
  lines_[1] = R"({"length":5,"index":,"output":[0]})";
  expect_contains(refusal(),
                  {":2: not JSON: cannot be read from column 21 on, behind '{\"length\":5,\"index\":'",
                   "allowed: one JSON object a line"});
}

// What is unpacked of a compressed file ends where no sample can follow, and blank lines are not kept.
TEST_F(Predictions, MayHaveFewBlankLines) {
  const ScoredPredictions scored = score();
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  const auto write = [&](const std::string& content) {
    std::ofstream(path(), std::ios::binary) << zstd_frame(content);
  };
  write(text + std::string(1 << 15, '\n') + std::string(1 << 14, ' '));
  EXPECT_EQ(score_predictions(path()).packed, scored.packed);
  for (const char blank : {'\n', ' '}) {
    write(text + std::string(1 << 20, blank));
    expect_contains(message_of([&] { score_predictions(path()); }),
                    {"predictions.jsonl:", "more than 65536 bytes of blank lines"});
  }
  EXPECT_EQ(score_predictions(scored.packed, "kept").rows.size(), 2U);
}

TEST_F(Predictions, OfATaskOfAFileCarryItsDefinition) {
  const TaskDefinition definition = parse_task_definition(
      "name: no_three\nsymbols: [a, b]\nanswer: accept\nautomaton: \"0 1 a\\n0 0 b\\n1 0 b\\n0\\n1\\n\"\n",
      "x");
  predict({.task = definition.name,
           .definition = definition.canonical(),
           .lengths = {6},
           .samples = 64,
           .seed = 2});
  EXPECT_EQ(Json::parse(lines_.at(0))["definition"], definition.canonical());
  EXPECT_EQ(score().rows.at(0).accuracy, 1);
  change(1, [](Json& header) { header["task"] = "other"; });
  expect_contains(refusal(), {":1: the definition is of 'no_three', the task is 'other'"});
  change(1, [](Json& header) { header["definition"] = "name: [x"; });
  expect_contains(refusal(), {":1: definition:1: "});
}

}  // namespace
}  // namespace che
