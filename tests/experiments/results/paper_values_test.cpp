// The paper's values beside runs on texts.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/files.h"
#include "experiments/plan/evaluation_settings.h"
#include "tables/result_tables.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"
#include "texts/corpus_maker.h"
#include "texts/token_file.h"

namespace che {
namespace {

namespace fs = std::filesystem;

class PaperValuesOfTexts : public ScratchTest {
 protected:
  fs::path at(const std::string& name) const { return scratch_.path() / name; }

  // A folder with a corpus of a few of GPT-2's tokens, or of another tokenizer's.
  std::string corpus(const std::string& name, std::optional<PaperText> paper,
                     std::int64_t end = CorpusCard::kGpt2End) {
    TokenWriter writer(at(name + ".bin"), end + 1);
    std::vector<std::int32_t> document(4000, 1);
    document.back() = static_cast<std::int32_t>(end);
    writer.add(document);
    writer.add(document);
    write_file_atomically(at(name + ".idx"), token_index_bytes(writer.finish()));
    import_corpus(at(name), {.split = {1, 0, 1}, .paper = paper}, end + 1, end, at("corpora/" + name));
    return at("corpora/" + name).string();
  }

  // Stores a run with a perplexity of 5 at every test length.
  void store(const std::string& corpus, const std::string& encoding, std::int64_t trained = 512,
             const std::string& evaluation = "lengths: [512, 2048, 3000]") {
    const RunConfig config =
        read(
            fmt::format("name: x\nbase: {{text: {}, encoding: {}, training: {{first_length: {}, last_length: "
                        "{}}}, evaluation: {{{}}}}}\n",
                        corpus, encoding, trained, trained, evaluation))
            .runs.front();
    const RunFolder folder = store_run(at("runs"), config, RunState::kFinished);
    std::vector<EvaluationRow> rows = folder.evaluation();
    for (EvaluationRow& row : rows) {
      row.loss = std::log(5.0);
      row.encoding_settings = evaluation_settings(config);
    }
    folder.write_evaluation(rows);
  }

  std::string table(const ScoreTableOptions& options = {.paper = PaperValues::kComparable},
                    const std::string& format = "md", const ReadingRules& rules = {}) const {
    ResultTable results = make_table(open_runs(at("runs")), rules);
    add_paper_perplexities(results);
    return format_table(score_table(results, options), format);
  }
};

constexpr const char* kDapeKerple = "{name: kerple, dape: {hidden: 32}}";

TEST_F(PaperValuesOfTexts, StandInTheRowsOfTheSameLengths) {
  const std::string arxiv = corpus("mine", PaperText::kArxiv);
  store(arxiv, "rope");
  store(arxiv, kDapeKerple);
  const std::string text = table();
  expect_contains(
      text, {"5.00 (4.58)", "5.00 (134.16)", "5.00 (4.05)", "In parentheses: the paper's value.", "Table 5",
             "Arxiv, the mean of three seeds", "trained at 512 tokens", "differ from ours"});
  EXPECT_FALSE(contains(text, "Table 2")) << text;
  const std::string at_3000 = text.substr(text.find("length=3000"));
  EXPECT_FALSE(contains(at_3000.substr(0, at_3000.find('\n')), "(4")) << at_3000;
  const std::string with_difference = table(
      {.aggregate = Aggregate::kMean, .paper = PaperValues::kComparable, .difference = true, .spread = true});
  expect_contains(with_difference, {"5.00 (4.58 \u00b10.02, +0.42)", "the paper's value and ours minus it."});
  expect_contains(table({.paper = PaperValues::kComparable}, "csv"), {",4.5755,", ",rope,same_positions,"});
  expect_contains(table({.paper = PaperValues::kComparable}, "json"), {"4.5755"});
  expect_contains(table({.paper = PaperValues::kComparable}, "tex"), {"4.58", "Table 5"});
}

TEST_F(PaperValuesOfTexts, AreReadWhereSomebodyAsks) {
  store(corpus("mine", PaperText::kArxiv), "rope");
  const auto has_value = [](const auto& cell) { return cell.second.paper.has_value(); };
  ResultTable results = make_table(open_runs(at("runs")));
  EXPECT_TRUE(std::ranges::none_of(results.cells, has_value));
  add_paper_perplexities(results);
  EXPECT_TRUE(std::ranges::any_of(results.cells, has_value));
}

TEST_F(PaperValuesOfTexts, OfBooks3AreFromTwoTables) {
  const std::string books = corpus("novels", PaperText::kBooks3);
  store(books, kDapeKerple, 128, "lengths: [128]");
  store(books, "{name: kerple, dape: {hidden: 32, variant: bias_only_residual}}", 512, "lengths: [512]");
  expect_contains(table(), {"5.00 (31.49)", "5.00 (19.64)", "Table 6", "Table 7"});
}

TEST_F(PaperValuesOfTexts, SayWhyThereAreNone) {
  const auto expect_gap = [&](const std::string& gap, const ReadingRules& rules = {}) {
    const std::string text = table({.paper = PaperValues::kComparable}, "md", rules);
    expect_contains(text, {"No value of the paper stands beside", gap});
    EXPECT_FALSE(contains(text, "In parentheses")) << text;
    EXPECT_FALSE(contains(table({}), "No value of the paper")) << "nobody asked";
  };
  store("austen", "rope");
  expect_gap(
      R"(austen: its corpus.json does not say that it is one of the paper's texts ("paper": "arxiv" or "books3"))");
  const auto only = [&](const std::string& corpus, std::int64_t trained = 512,
                        const std::string& evaluation = "lengths: [512]") {
    fs::remove_all(at("runs"));
    store(corpus, "rope", trained, evaluation);
  };
  only(corpus("bytes", PaperText::kArxiv, 256));
  expect_gap("bytes: the paper's perplexities are of GPT-2's tokens");
  const std::string arxiv = corpus("mine", PaperText::kArxiv);
  only(arxiv, 512, "lengths: [512], last: 128");
  expect_gap("mine: the paper's count the last 256 predictions of a window");
  only(arxiv, 128);
  expect_gap("mine: its tables of arxiv are of models trained at 512 tokens");
  only(arxiv);
  ReadingRules bits;
  bits.metric = Metric::named("bits");
  expect_gap("mine: the paper's numbers are perplexities", bits);
  fs::remove_all(arxiv);
  expect_gap("there is no corpus");
}

TEST_F(PaperValuesOfTexts, AreOfTheCorpusThatARunIsAbout) {
  const std::string arxiv = corpus("mine", PaperText::kArxiv);
  store(arxiv, "rope");
  fs::remove_all(arxiv);
  std::string other = corpus("mine", PaperText::kArxiv, CorpusCard::kGpt2End);
  EXPECT_TRUE(contains(table(), "(4.58)")) << "the same contents";
  fs::remove_all(arxiv);
  write_file_atomically(at("x.txt"), "abc");
  make_corpus({.name = "mine", .sources = {at("x.txt")}, .paper = PaperText::kArxiv}, arxiv);
  expect_contains(table(), {"is another one now"});
}

}  // namespace
}  // namespace che
