#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/text.h"
#include "experiments/store/run_files.h"
#include "tests/cli/program_test.h"

namespace che {
namespace {

using Json = nlohmann::ordered_json;

class ExchangeProgram : public ProgramTest {
 protected:
  std::string samples_folder() const { return (folder_ / "samples").string(); }

  // Predictions for the samples in `file` that give every sample the symbols of `symbol(output)`.
  template <class Symbol>
  std::string predict(const std::string& file, const Symbol& symbol) const {
    std::istringstream lines(read_file(std::filesystem::path(samples_folder()) / file));
    std::string predictions;
    for (std::string line; std::getline(lines, line);) {
      Json object = Json::parse(line);
      if (predictions.empty()) {
        object["format"] = "che-predictions/1";
        object["model"] = "my_model";
        object["model_seed"] = 3;
      } else {
        for (Json& value : object["output"]) value = symbol(value.get<int>());
        object.erase("input");
        object.erase("mask");
      }
      predictions += object.dump() + "\n";
    }
    return write("predictions.jsonl", predictions);
  }
};

TEST_F(ExchangeProgram, ScoresWhatItExported) {
  const Outcome exported =
      che({"export", "quick/v1", "-o", samples_folder(), "--task", "reverse_string,even_pairs"});
  ASSERT_EQ(0, exported.exit_code) << exported.output;
  EXPECT_TRUE(std::filesystem::exists(samples_folder() + "/even_pairs.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(samples_folder() + "/missing_duplicate.jsonl"));

  const std::string right = predict("reverse_string.jsonl", [](int symbol) { return symbol; });
  const std::string rows = (folder_ / "accuracy.csv").string();
  const Outcome scored = che({"score", right, "--csv", rows});
  ASSERT_EQ(0, scored.exit_code) << scored.output;
  expect_contains(scored.output, {"my_model", "reverse_string", "17..80", "256", "100.0"});
  expect_contains(read_file(rows), {"model,model_seed,task,suite,length,samples,seed,accuracy\n",
                                    "my_model,3,reverse_string,quick/v1,17,256,0,1\n"});

  const std::string wrong = predict("reverse_string.jsonl", [](int symbol) { return 1 - symbol; });
  expect_contains(che({"score", wrong}).output, {" 0.0"});
  const std::string constant = predict("even_pairs.jsonl", [](int) { return 0; });
  const Outcome half = che({"score", constant});
  EXPECT_EQ(0, half.exit_code) << half.output;
}

TEST_F(ExchangeProgram, ShowsScoredModelsNextToEachOther) {
  ASSERT_EQ(0, che({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs"}).exit_code);
  const std::string right = predict("even_pairs.jsonl", [](int symbol) { return symbol; });
  const std::string one = results() + "/one";
  const std::string other = results() + "/other";
  const Outcome stored = che({"score", right, "-o", one});
  ASSERT_EQ(0, stored.exit_code) << stored.output;
  expect_contains(stored.output, {"1 result stored in " + one});
  std::string text = read_file(predict("even_pairs.jsonl", [](int) { return 0; }));
  text.replace(text.find("my_model"), 8, "constant");
  ASSERT_EQ(0, che({"score", write("constant.jsonl", text), "-o", other}).exit_code);

  const Outcome table = che({"table", one, other, "--format", "csv"});
  EXPECT_EQ(0, table.exit_code) << table.output;
  expect_contains(table.output, {"regular,even_pairs,constant,", "regular,even_pairs,my_model,"});
  // Other seeds than the constant's.
  expect_refusal(che({"table", one, "--compare", "my_model", "lstm"}), {"'lstm' is no encoding", "my_model"});
  const Outcome compared = che({"table", one, other, "--compare", "my_model", "constant"});
  EXPECT_EQ(0, compared.exit_code) << compared.output;
  const std::string page = (folder_ / "page.html").string();
  expect_refusal(che({"report", one, other}), {"several experiments need --output"});
  expect_refusal(che({"plot", one, other}), {"several experiments need --output"});
  write("results/one/quoted.csv", "task,model,score,source\neven_pairs,oracle,0.5,a paper\n");
  const Outcome report = che({"report", "--entries", one, other, "-o", page});
  EXPECT_EQ(0, report.exit_code) << report.output;
  expect_contains(read_file(page), {"my_model", "constant", "oracle (quoted)", "a paper"});

  expect_refusal(che({"score", right, right, "-o", one}), {"the model, model_seed and task of"});
  text.replace(text.find("constant"), 8, "rope");
  expect_refusal(che({"score", write("rope.jsonl", text)}),
                 {"rope.jsonl:1", "model", "is an encoding of che"});
}

TEST_F(ExchangeProgram, BundlesAndVerifies) {
  ASSERT_EQ(0, che({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs"}).exit_code);
  ASSERT_EQ(0, che({"score", predict("even_pairs.jsonl", [](int symbol) { return symbol; }), "-o", results()})
                   .exit_code);
  const std::string bundle = (folder_ / "results.tar.zst").string();
  const Outcome written = che({"bundle", results(), "-o", bundle});
  EXPECT_EQ(0, written.exit_code) << written.output;
  const Outcome verified = che({"verify", bundle});
  EXPECT_EQ(0, verified.exit_code) << verified.output;
  expect_contains(verified.output,
                  {"1 run of the experiment results", "even_pairs (version 1)", "every byte"});
  std::string changed = read_file(bundle);
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  expect_refusal(che({"verify", write("changed.tar.zst", changed)}), {"changed.tar.zst"});
  expect_refusal(che({"verify", write("none.tar.zst", "nothing")}), {"none.tar.zst", "is no archive"});
  expect_refusal(che({"bundle", results(), "-o", "results.zip"}), {"--output results.zip", "NAME.tar.zst"});
  expect_refusal(che({"bundle", (folder_ / "missing").string(), "-o", bundle}), {"no results in"});
}

TEST_F(ExchangeProgram, TrainsRunsOfABundleAgain) {
  const std::string published = (folder_ / "published").string();
  ASSERT_EQ(0, che({"run", small_config(), "-o", published}).exit_code);
  const std::string bundle = (folder_ / "published.tar.zst").string();
  ASSERT_EQ(0, che({"bundle", published, "-o", bundle}).exit_code);

  const Outcome one = che({"verify", bundle, "--retrain", "1", "-o", results(), "--device", "cpu"});
  EXPECT_EQ(0, one.exit_code) << one.output;
  expect_contains(one.output, {"every byte", "retraining   1 run of 2", "equal             ",
                               "the same numbers at 3 test lengths and in 1 row of training metrics",
                               "1 run trained again: 1 equal, 0 within tolerance, 0 different"});
  const Outcome all = che({"verify", bundle, "--retrain", "all", "-o", results()});
  EXPECT_EQ(0, all.exit_code) << all.output;
  expect_contains(all.output, {"2 runs of 2", "1 done before", "2 runs trained again: 2 equal"});

  // A folder that this command did not begin would confirm itself.
  const Outcome own = che({"verify", bundle, "--retrain", "all", "-o", published});
  EXPECT_EQ(2, own.exit_code) << own.output;
  expect_contains(own.output, {published, "was not begun by this command"});

  // What was published is not what the config gives.
  for (const auto& entry : std::filesystem::directory_iterator(published + "/runs")) {
    const std::string id = entry.path().filename().string();
    const std::string file = (entry.path() / "evaluation.csv").string();
    std::vector<EvaluationRow> rows = parse_evaluation(read_file(file), id, file);
    rows.front().accuracy = rows.front().accuracy > 0.5 ? 0.25 : 0.75;
    write_file_atomically(file, evaluation_text(rows, id));
  }
  ASSERT_EQ(0, che({"bundle", published, "-o", bundle}).exit_code);
  const Outcome changed =
      che({"verify", bundle, "--retrain", "all", "-o", results(), "--only", "task=even_pairs"});
  EXPECT_EQ(1, changed.exit_code) << changed.output;
  expect_contains(changed.output, {"different         even_pairs-", "beyond 0.01 at 1 of 3 test lengths",
                                   "at length 7 (", "0 equal, 0 within tolerance, 1 different"});
  const Outcome tolerated = che({"verify", bundle, "--retrain", "all", "-o", results(), "--tolerance", "1",
                                 "--only", "task=even_pairs"});
  EXPECT_EQ(0, tolerated.exit_code) << tolerated.output;
  expect_contains(tolerated.output, {"within tolerance  even_pairs-"});
}

TEST_F(ExchangeProgram, RetrainsOnlyWhatCanBeTrained) {
  ASSERT_EQ(0, che({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs"}).exit_code);
  ASSERT_EQ(0, che({"score", predict("even_pairs.jsonl", [](int symbol) { return symbol; }), "-o", results()})
                   .exit_code);
  const std::string bundle = (folder_ / "results.tar.zst").string();
  ASSERT_EQ(0, che({"bundle", results(), "-o", bundle}).exit_code);
  const Outcome foreign = che({"verify", bundle, "--retrain", "1"});
  EXPECT_EQ(2, foreign.exit_code);
  expect_contains(foreign.output, {"0 of 1 run can be trained again (1 predictions of a model outside che)"});
  for (const char* const count : {"0", "-1", "1.5", "some"}) {
    expect_refusal(che({"verify", bundle, fmt::format("--retrain={}", count)}),
                   {fmt::format("--retrain {}", count), "a number of runs from 1 on, or all"});
  }
  expect_refusal(che({"verify", bundle, "--retrain", "1", "--device", "tpu"}), {"tpu", "cuda"});
  expect_refusal(che({"verify", bundle, bundle, "--retrain", "1"}), {"--retrain: takes one bundle"});
  expect_refusal(che({"verify", bundle, "--retrain", "1", "--tolerance", "nan"}), {"--tolerance", "0 to 1"});
  const Outcome alone = che({"verify", bundle, "--tolerance", "0.1"});
  EXPECT_EQ(2, alone.exit_code);
  expect_contains(alone.output, {"--tolerance", "--retrain"});
}

TEST_F(ExchangeProgram, SamplesAreThoseOfTheSuiteUnlessAskedOtherwise) {
  ASSERT_EQ(0, che({"export", "che-14/v1", "-o", samples_folder(), "--task", "parity_check", "--lengths",
                    "41:43", "--samples", "64", "--seed", "5"})
                   .exit_code);
  const std::string text = read_file(std::filesystem::path(samples_folder()) / "parity_check.jsonl");
  const Json header = Json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ("", header["suite"]) << "other lengths than the suite's";
  EXPECT_EQ(Json({41, 42, 43}), header["lengths"]);
  EXPECT_EQ(5, header["seed"]);
  EXPECT_EQ(1 + 3 * 64, std::count(text.begin(), text.end(), '\n'));
}

TEST_F(ExchangeProgram, ExportsFurtherFormats) {
  ASSERT_EQ(0, che({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs", "--format", "npz"})
                   .exit_code);
  EXPECT_TRUE(read_file(samples_folder() + "/even_pairs.npz").starts_with("PK"));
  ASSERT_EQ(0,
            che({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs", "--format", "flare"})
                .exit_code);
  const std::string labels = read_file(samples_folder() + "/even_pairs/datasets/test/labels.txt");
  EXPECT_EQ(2 * 256 * 10U, labels.size());
  expect_contains(
      che({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs", "--format", "npz"}).output,
      {"10 lengths, 256 samples each, in place of what was there\n"});
  const std::string other = (folder_ / "other").string();
  expect_refusal(che({"export", "quick/v1", "-o", other, "--format", "flare"}),
                 {"--format flare", "reverse_string answers with"});
  EXPECT_FALSE(std::filesystem::exists(other));
  const Outcome unknown = che({"export", "quick/v1", "-o", other, "--format", "csv"});
  EXPECT_EQ(2, unknown.exit_code);
  expect_contains(unknown.output, {"--format", "jsonl"});
}

// 120 symbols are more than ASCII has.
TEST_F(ExchangeProgram, WritesStringsInUtf8) {
  const std::string task = write("s5.yaml", "name: s5\ngroup: S5\ngenerators: all\nanswer: accept\n");
  ASSERT_EQ(0, che({"export", task, "-o", samples_folder(), "--lengths", "5:6", "--samples", "64", "--format",
                    "flare"})
                   .exit_code);
  const std::string text = read_file(samples_folder() + "/s5/datasets/test/main.tok");
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++characters) {
    const std::size_t bytes = utf8_character_bytes(std::string_view(text).substr(at));
    ASSERT_GT(bytes, 0U) << "byte " << at;
    at += bytes;
  }
  EXPECT_EQ(64 * 2 * (5 + 6), static_cast<int>(characters)) << "a symbol and a space or line end each";
}

TEST_F(ExchangeProgram, RefusesWhatDoesNotFit) {
  expect_refusal(che({"export", "quick/v2", "-o", samples_folder()}),
                 {"unknown suite 'quick/v2'", "quick/v1"});
  expect_refusal(che({"export", "quick/v1", "-o", samples_folder(), "--task", "bucket_sort"}),
                 {"suite quick/v1 has no such task"});
  expect_refusal(che({"export", "quick/v1", "-o", samples_folder(), "--samples", "65"}), {"multiples of 64"});
  expect_refusal(che({"export", "quick/v1", "-o", samples_folder(), "--lengths", "9:1"}), {"--lengths 9:1"});
  EXPECT_FALSE(std::filesystem::exists(samples_folder()));
  expect_refusal(che({"score", write("bad.jsonl", "{}\n")}), {"bad.jsonl:1", "'format' is missing"});
  expect_refusal(che({"score", (folder_ / "missing.jsonl").string()}), {"cannot read", "missing.jsonl"});
}

}  // namespace
}  // namespace che
