#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/process.h"
#include "core/text.h"
#include "core/version.h"
#include "experiments/store/run_files.h"
#include "tests/cli/program_test.h"

namespace che {
namespace {

using Json = nlohmann::ordered_json;

class ExchangeProgram : public ProgramTest {
 protected:
  std::string samples_folder() const { return (folder_ / "samples").string(); }

  // Writes predictions for the samples in `file`, with `symbol(output)` for each output symbol.
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
  output_of({"export", "quick/v1", "-o", samples_folder(), "--task", "reverse_string,even_pairs"});
  EXPECT_TRUE(std::filesystem::exists(samples_folder() + "/even_pairs.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(samples_folder() + "/missing_duplicate.jsonl"));

  const std::string right = predict("reverse_string.jsonl", [](int symbol) { return symbol; });
  const std::string rows = (folder_ / "accuracy.csv").string();
  expect_contains(output_of({"score", right, "--csv", rows}),
                  {"my_model", "reverse_string", "17..80", "256", "100.0"});
  expect_contains(read_file(rows), {"model,model_seed,task,suite,length,samples,seed,accuracy,data_seed\n",
                                    "my_model,3,reverse_string,quick/v1,17,256,0,1,0\n"});

  const std::string wrong = predict("reverse_string.jsonl", [](int symbol) { return 1 - symbol; });
  expect_contains(che({"score", wrong}).output, {" 0.0"});
  const std::string constant = predict("even_pairs.jsonl", [](int) { return 0; });
  output_of({"score", constant});
}

TEST_F(ExchangeProgram, ShowsScoredModelsNextToEachOther) {
  ASSERT_EQ(0, che({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs"}).exit_code);
  const std::string right = predict("even_pairs.jsonl", [](int symbol) { return symbol; });
  const std::string one = results() + "/one";
  const std::string other = results() + "/other";
  expect_contains(output_of({"score", right, "-o", one}), {"1 result stored in " + one});
  std::string text = read_file(predict("even_pairs.jsonl", [](int) { return 0; }));
  text.replace(text.find("my_model"), 8, "zeros");
  ASSERT_EQ(0, che({"score", write("constant.jsonl", text), "-o", other}).exit_code);

  expect_contains(output_of({"table", one, other, "--format", "csv"}),
                  {"regular,even_pairs,zeros,", "regular,even_pairs,my_model,"});
  output_of({"compare", one, other, "--column", "my_model", "--base", "zeros"});
  const std::string page = (folder_ / "page.html").string();
  expect_refusal(che({"report", one, other}), {"several experiments need --output"});
  expect_refusal(che({"plot", one, other}), {"several experiments need --output"});
  write("results/one/quoted.csv", "task,model,score,source\neven_pairs,oracle,0.5,a paper\n");
  output_of({"report", "--entries", one, other, "-o", page});
  expect_contains(read_file(page), {"my_model", "zeros", "oracle (quoted)", "a paper"});

  expect_refusal(che({"score", right, right, "-o", one}), {"the model, model_seed and task of"});
  expect_refusal(che({"score", right, "--csv", right}), {"would replace what the command reads"});
  const std::filesystem::path run = std::filesystem::directory_iterator(one + "/runs")->path();
  const std::string rows = run / "evaluation.csv";
  const std::string before = read_file(rows);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"table", one, "-o"},
                                                {"status", one, "-o"},
                                                {"report", one, "-o"},
                                                {"score", right, "--csv"},
                                                {"export-model", run, "-o"},
                                                {"bench", "--json"}}) {
    std::vector<std::string> named = words;
    named.push_back(rows);
    expect_refusal(che(named), {rows, "lies in the folder of a run"});
    named.back() = (folder_ / "missing" / "file").string();
    expect_refusal(che(named), {"there is no folder", "missing", "create it first"});
  }
  EXPECT_EQ(before, read_file(rows));
}

TEST_F(ExchangeProgram, ScoresPredictionsOfRunsThatDifferInTheirDataSeed) {
  output_of({"run", small_config(), "task=even_pairs", "axes.data_seed=[0,1]", "evaluation.predictions=true",
             "-o", results()});
  std::vector<std::string> words{"score", "-o", (folder_ / "scored").string()};
  for (const auto& [path, content] : contents(results(), "predictions.jsonl")) {
    words.push_back(results() + "/" + path);
  }
  ASSERT_EQ(5U, words.size());
  output_of(words);
  expect_contains(output_of({"status", (folder_ / "scored").string()}), {": 2 runs: 2 finished"});
}

// The file is in the format of safetensors: the size of its header, the header, and the numbers.
TEST_F(ExchangeProgram, ExportsTheParametersOfARun) {
  output_of({"run", small_config(), "axes.task=[even_pairs]", "-o", results()});
  const std::filesystem::path run = std::filesystem::directory_iterator(results() + "/runs")->path();
  const std::string file = (folder_ / "model.safetensors").string();
  expect_contains(output_of({"export-model", run, "-o", file}), {file, " numbers in ", ", of step 40\n"});
  const std::string bytes = read_file(file);
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  EXPECT_EQ(0U, size % 8);
  Json header = Json::parse(bytes.substr(sizeof size, size));
  EXPECT_EQ(run.filename().string(), header["__metadata__"]["run"]);
  EXPECT_EQ("40", header["__metadata__"]["step"]);
  header.erase("__metadata__");
  std::size_t end = 0;
  for (const auto& [name, tensor] : header.items()) {
    std::size_t numbers = 1;
    for (const std::size_t extent : tensor["shape"]) numbers *= extent;
    EXPECT_EQ(Json({end, end + 4 * numbers}), tensor["data_offsets"]) << name;
    EXPECT_EQ("F32", tensor["dtype"]);
    end += 4 * numbers;
  }
  EXPECT_EQ(bytes.size(), sizeof size + size + end);
  EXPECT_EQ(Json({8, 8}), header["layer0.attn.wq"]["shape"]) << header;
}

TEST_F(ExchangeProgram, ExportsATaskOfNoSuite) {
  const std::vector<std::string> command{"export",    "even_pairs", "-o",        samples_folder(),
                                         "--lengths", "5:6",        "--samples", "64"};
  expect_contains(output_of(command), {"even_pairs.jsonl: 2 lengths, 64 samples each"});
  std::vector<std::string> chosen = command;
  chosen.insert(chosen.end(), {"--task", "even_pairs"});
  expect_refusal(che(chosen), {"--task: chooses from a suite"});
}

TEST_F(ExchangeProgram, BundlesAndVerifies) {
  ASSERT_EQ(0, che({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs"}).exit_code);
  output_of({"score", predict("even_pairs.jsonl", [](int symbol) { return symbol; }), "-o", results()});
  const std::string bundle = (folder_ / "results.tar.zst").string();
  output_of({"bundle", results(), "-o", bundle});
  expect_contains(output_of({"verify", bundle}),
                  {"1 run of the experiment results", "even_pairs (version 1)", "every byte"});
  std::string changed = read_file(bundle);
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  expect_refusal(che({"verify", write("changed.tar.zst", changed)}), {"changed.tar.zst"});
  // Those behind a damaged one are checked all the same.
  expect_contains(output_of({"verify", write("changed.tar.zst", changed), bundle}, 2),
                  {"changed.tar.zst", "verified     every byte is as it was written"});
  expect_refusal(che({"bundle", results(), "-o", "results.zip"}), {"--output results.zip", "NAME.tar.zst"});
  expect_refusal(che({"bundle", (folder_ / "missing").string(), "-o", bundle}), {"no results in"});
}

TEST_F(ExchangeProgram, TrainsRunsOnATextAgainWhereverItsCorpusIs) {
  const std::filesystem::path corpus = folder_ / "corpus";
  std::filesystem::copy(CHE_SOURCE_DIR "/data/text/austen", corpus);
  const std::string config = write("text.yaml", fmt::format(R"(
name: text
base:
  text: {}
  encoding: rope
  model: {{width: 16, layers: 1, heads: 2}}
  training: {{steps: 2, batch_size: 1, first_length: 16, last_length: 16}}
  evaluation: {{lengths: [16], samples: 64}}
)",
                                                            corpus.string()));
  output_of({"run", config, "-o", results()});
  const std::string bundle = (folder_ / "text.tar.zst").string();
  output_of({"bundle", results(), "-o", bundle});
  const std::filesystem::path elsewhere = folder_ / "elsewhere";
  std::filesystem::rename(corpus, elsewhere);
  const std::string again = (folder_ / "again").string();
  expect_contains(output_of({"verify", bundle, "--retrain", "all", "-o", again}, 2),
                  {"0 of 1 run can be trained again", corpus.string(), "--corpus"});
  expect_contains(
      output_of({"verify", bundle, "--retrain", "all", "-o", again, "--corpus", elsewhere.string()}),
      {"1 run trained again: 1 equal"});
}

// A run goes on from a shorter one, whose rows of training are coarser in the bundle.
TEST_F(ExchangeProgram, TrainsLongerRunsAgainWithRowsOfTheirOwn) {
  for (const auto& [steps, every] : {std::pair("40", "5"), std::pair("38", "38")}) {
    output_of({"run", small_config(), "task=even_pairs", "axes.seed=[0,1,2,3]", "-o", results(),
               std::string("training.steps=") + steps, std::string("log.every_steps=") + every});
  }
  const std::string bundle = (folder_ / "lengths.tar.zst").string();
  output_of({"bundle", results(), "-o", bundle});
  expect_contains(
      output_of({"verify", bundle, "--retrain", "all", "--workers", "1", "-o", (folder_ / "again").string()}),
      {"8 runs trained again: 8 equal"});
}

TEST_F(ExchangeProgram, TrainsRunsOfABundleAgain) {
  const std::string published = (folder_ / "published").string();
  ASSERT_EQ(0, che({"run", small_config(), "-o", published}).exit_code);
  // Its config now asks for other records of training than it has.
  ASSERT_EQ(0, che({"run", small_config(), "log.every_steps=1", "-o", published}).exit_code);
  const std::string bundle = (folder_ / "published.tar.zst").string();
  ASSERT_EQ(0, che({"bundle", published, "-o", bundle}).exit_code);

  const std::string program = "che " + program_version() + ", commit ";
  expect_contains(output_of({"verify", bundle, "--retrain", "1", "-o", results(), "--device", "cpu"}),
                  {"bundled by   " + program, "computed by  " + program, ", on " + processor_name(),
                   "every byte", "drawn        with --seed ", "retraining   1 run of 2", "equal             ",
                   "the same numbers at 3 test lengths and in 1 row of training metrics",
                   "1 run trained again: 1 equal, 0 within tolerance, 0 different"});
  expect_contains(output_of({"verify", bundle, "--retrain", "all", "-o", results()}),
                  {"2 runs of 2", "1 done before", "2 runs trained again: 2 equal"});
  // A later bundle has rows on the way, which the runs of this folder have passed.
  const std::vector<std::string> again = {"run",       small_config(), "evaluation.at_steps=[20]",
                                          "--retrain", "-o",           published};
  std::vector<std::string> one_job = again;
  one_job.insert(one_job.end(), {"--max-jobs", "1"});
  expect_contains(output_of(one_job, 75), {"to begin again: 2 runs; "});
  EXPECT_EQ(1U, contents(published, "metrics.csv.replaced").size()) << "of the job that began";
  output_of(again);
  EXPECT_EQ(2U, contents(published, "metrics.csv.replaced").size());
  ASSERT_EQ(0, che({"bundle", published, "-o", bundle}).exit_code);
  expect_contains(output_of({"verify", bundle, "--retrain", "all", "-o", results()}),
                  {"0 done before", "2 runs trained again: 2 equal"});

  // The published folder would confirm itself.
  expect_contains(output_of({"verify", bundle, "--retrain", "all", "-o", published}, 2),
                  {published, "was not begun by this command"});

  // The published scores are not those that the config gives.
  for (const auto& entry : std::filesystem::directory_iterator(published + "/runs")) {
    const std::string id = entry.path().filename().string();
    const std::string file = (entry.path() / "evaluation.csv").string();
    std::vector<EvaluationRow> rows = parse_evaluation(read_file(file), id, file);
    rows.front().accuracy = rows.front().accuracy > 0.5 ? 0.25 : 0.75;
    write_file_atomically(file, evaluation_text(rows, id));
  }
  ASSERT_EQ(0, che({"bundle", published, "-o", bundle}).exit_code);
  expect_contains(
      output_of({"verify", bundle, "--retrain", "all", "-o", results(), "--only", "task=even_pairs"}, 1),
      {"different         even_pairs-", "beyond 0.01 at 1 of 3 test lengths", "at length 7 (",
       "0 equal, 0 within tolerance, 1 different"});
  expect_contains(output_of({"verify", bundle, "--retrain", "all", "-o", results(), "--tolerance", "1",
                             "--only", "task=even_pairs"}),
                  {"within tolerance  even_pairs-"});
}

TEST_F(ExchangeProgram, RetrainsOnlyWhatCanBeTrained) {
  ASSERT_EQ(0, che({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs"}).exit_code);
  output_of({"score", predict("even_pairs.jsonl", [](int symbol) { return symbol; }), "-o", results()});
  const std::string bundle = (folder_ / "results.tar.zst").string();
  ASSERT_EQ(0, che({"bundle", results(), "-o", bundle}).exit_code);
  expect_contains(output_of({"verify", bundle, "--retrain", "1"}, 2),
                  {"0 of 1 run can be trained again (1 predictions of a model outside che)"});
  for (const char* const count : {"0", "some"}) {
    expect_refusal(che({"verify", bundle, fmt::format("--retrain={}", count)}),
                   {fmt::format("--retrain {}", count), "a number of runs from 1 on, or all"});
  }
  expect_refusal(che({"verify", bundle, "--retrain", "1", "--device", "tpu"}), {"tpu", "cuda"});
  expect_refusal(che({"verify", bundle, bundle, "--retrain", "1"}), {"--retrain: takes one bundle"});
  expect_refusal(che({"verify", bundle, "--retrain", "1", "--tolerance", "nan"}), {"--tolerance", "0 to 1"});
  expect_contains(output_of({"verify", bundle, "--tolerance", "0.1"}, 2), {"--tolerance", "--retrain"});
}

TEST_F(ExchangeProgram, SamplesAreThoseOfTheSuiteUnlessAskedOtherwise) {
  output_of({"export", "che-14/v1", "-o", samples_folder(), "--task", "parity_check", "--lengths", "41:43",
             "--samples", "64", "--seed", "5"});
  const std::string text = read_file(std::filesystem::path(samples_folder()) / "parity_check.jsonl");
  const Json header = Json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ("", header["suite"]) << "other lengths than the suite's";
  EXPECT_EQ(Json({41, 42, 43}), header["lengths"]);
  EXPECT_EQ(5, header["seed"]);
  EXPECT_EQ(1 + 3 * 64, std::count(text.begin(), text.end(), '\n'));
}

TEST_F(ExchangeProgram, ExportsFurtherFormats) {
  output_of({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs", "--format", "npz"});
  EXPECT_TRUE(read_file(samples_folder() + "/even_pairs.npz").starts_with("PK"));
  output_of({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs", "--format", "flare"});
  const std::string labels = read_file(samples_folder() + "/even_pairs/datasets/test/labels.txt");
  EXPECT_EQ(2 * 256 * 10U, labels.size());
  expect_contains(
      che({"export", "quick/v1", "-o", samples_folder(), "--task", "even_pairs", "--format", "npz"}).output,
      {"10 lengths, 256 samples each, in place of what was there\n"});
  const std::string other = (folder_ / "other").string();
  expect_refusal(che({"export", "quick/v1", "-o", other, "--format", "flare"}),
                 {"--format flare", "reverse_string answers with"});
  EXPECT_FALSE(std::filesystem::exists(other));
  expect_contains(output_of({"export", "quick/v1", "-o", other, "--format", "csv"}, 2),
                  {"--format", "jsonl"});
}

// 120 symbols are more than ASCII has.
TEST_F(ExchangeProgram, WritesStringsInUtf8) {
  const std::string task = write("s5.yaml", "name: s5\ngroup: S5\ngenerators: all\nanswer: accept\n");
  output_of(
      {"export", task, "-o", samples_folder(), "--lengths", "5:6", "--samples", "64", "--format", "flare"});
  const std::string text = read_file(samples_folder() + "/s5/datasets/test/main.tok");
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++characters) {
    const std::size_t bytes = utf8_character_bytes(std::string_view(text).substr(at));
    ASSERT_GT(bytes, 0U) << "byte " << at;
    at += bytes;
  }
  EXPECT_EQ(64 * 2 * (5 + 6), static_cast<int>(characters)) << "a symbol and a space or line end each";
}

TEST_F(ExchangeProgram, RefusesUnknownSuitesTasksAndPredictions) {
  expect_refusal(che({"export", "quick/v2", "-o", samples_folder()}),
                 {"unknown suite 'quick/v2'", "quick/v1"});
  expect_refusal(che({"export", "quick/v1", "-o", samples_folder(), "--task", "bucket_sort"}),
                 {"suite quick/v1 has no such task"});
  expect_refusal(che({"export", "quick/v1", "-o", samples_folder(), "--lengths", "9:1"}), {"--lengths 9:1"});
  for (const char* samples : {"0", "65", "4294967360", "9223372036854775744"}) {
    expect_refusal(che({"export", "quick/v1", "-o", samples_folder(), "--samples", samples}),
                   {std::string("--samples ") + samples, "allowed: multiples of 64 up to 4294967296"});
  }
  EXPECT_FALSE(std::filesystem::exists(samples_folder()));
  expect_refusal(che({"score", write("bad.jsonl", "{}\n")}), {"bad.jsonl:1", "'format' is missing"});
}

}  // namespace
}  // namespace che
