#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/number_text.h"
#include "core/text.h"
#include "texts/corpus_maker.h"

namespace che {
namespace {

struct CorpusOptions {
  std::string corpus;  // A name or a folder.
  std::string folder;  // That is written.
  std::string name;
  std::vector<std::string> sources;
  std::string field = "text";
  std::string where;
  std::string split = "969,30,1";
  std::string source = "the user's";
  std::string licence = "the user's";
  std::string paper;
  std::int64_t vocabulary = 0;
  std::int64_t end = 0;
};

CorpusPlan plan_of(const CorpusOptions& options) {
  CorpusPlan plan{.name = options.name,
                  .sources = {options.sources.begin(), options.sources.end()},
                  .field = options.field,
                  .source = one_line(options.source, kWholeText),
                  .licence = one_line(options.licence, kWholeText)};
  if (!options.paper.empty()) plan.paper = paper_text_named(options.paper);
  std::string_view rest = options.split;
  std::int64_t sum = 0;
  for (std::int64_t& share : plan.split) {
    const std::size_t comma = rest.find(',');
    const auto number = parse_integer(rest.substr(0, comma));
    const bool is_last = &share == &plan.split.back();
    if (!number || *number < 0 || *number > 1'000'000 || is_last != (comma == std::string_view::npos)) {
      throw Error(fmt::format("--split {}: allowed: three whole numbers such as 969,30,1", options.split));
    }
    sum += share = *number;
    rest.remove_prefix(is_last ? rest.size() : comma + 1);
  }
  if (sum == 0) throw Error("--split: one of the parts must have a share");
  if (!options.where.empty()) {
    const std::size_t equals = options.where.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw Error(fmt::format("--where {}: allowed: MEMBER=VALUE, such as meta.set=ArXiv", options.where));
    }
    plan.where = std::pair(options.where.substr(0, equals), options.where.substr(equals + 1));
  }
  return plan;
}

void print_card(const Corpus& corpus) {
  const CorpusCard& card = corpus.card();
  const auto line = [](std::string_view name, const std::string& value) {
    fmt::print("{:<12}{}\n", name, value);
  };
  line("name", card.name);
  line("tokenizer",
       fmt::format("{}, {} ids, of which {} ends a document", card.tokenizer, card.vocabulary, card.end));
  line("tokens", fmt::format("{} in {}", card.tokens, counted(card.documents, "document")));
  for (const TextPart part : {TextPart::kTrain, TextPart::kValidation, TextPart::kTest}) {
    const TextSpan documents = corpus.documents_of(part);
    std::int64_t longest = 0;
    for (std::int64_t i = documents.first; i < documents.end(); ++i) {
      longest = std::max(longest, corpus.document(i).count);
    }
    line(text_part_names()[static_cast<std::size_t>(part)],
         fmt::format("{} tokens in {}, the longest has {}", corpus.tokens_of(part).count,
                     counted(documents.count, "document"), longest));
  }
  line("source", card.source);
  line("licence", card.licence);
  if (card.paper) line("paper", paper_text_names()[static_cast<std::size_t>(*card.paper)]);
  line("hash", card.hash());
}

int list_corpora(const CorpusOptions& /*options*/) {
  for (const std::string& name : shipped_corpora()) {
    const CorpusCard card = read_corpus_card(corpus_folder(name));
    fmt::print("{}  {} tokens in {}, {}; {}\n", name, card.tokens, counted(card.documents, "document"),
               card.source, card.licence);
  }
  return 0;
}

int show_corpus(const CorpusOptions& options) {
  print_card(*Corpus::open(corpus_folder(options.corpus)));
  return 0;
}

int make(const CorpusOptions& options) {
  const ReadTexts read = make_corpus(plan_of(options), options.folder);
  print_card(*Corpus::open(options.folder));
  fmt::print("{} without text dropped, {} left out by --where", counted(read.empty, "document"),
             counted(read.skipped, "line"));
  if (read.others > 0) fmt::print(", {} with another ending not read", counted(read.others, "file"));
  fmt::print("\n");
  return 0;
}

int import(const CorpusOptions& options) {
  if (options.end >= options.vocabulary) {
    throw Error(
        fmt::format("--end {}: allowed: an id below --vocabulary, {}", options.end, options.vocabulary));
  }
  if (!options.paper.empty() && options.end != CorpusCard::kGpt2End) {
    throw Error(
        fmt::format("--paper {}: the paper's perplexities are of GPT-2's tokens; allowed beside it: --end {}",
                    options.paper, CorpusCard::kGpt2End));
  }
  const std::int64_t others = import_corpus(options.sources.front(), plan_of(options), options.vocabulary,
                                            options.end, options.folder);
  const std::shared_ptr<const Corpus> corpus = Corpus::open(options.folder);
  print_card(*corpus);
  if (others > 0) {
    print_warning(fmt::format("{} of {} do not end with the id {} of --end; the tokens are taken as they are",
                              others, counted(corpus->card().documents, "document"), options.end));
  }
  return 0;
}

void add_written(CLI::App& command, CorpusOptions& options) {
  command.add_option("-o,--output", options.folder, "folder of the corpus")->required();
  command.add_option("--name", options.name, "name of the corpus in tables and ids (default: the folder's)");
  command
      .add_option(
          "--split", options.split,
          "shares of documents, in their order, for training, validation and test, rounded as GPT-NeoX does")
      ->capture_default_str();
  command.add_option("--source", options.source, "where the text is from, for corpus.json");
  command.add_option("--licence", options.licence, "licence of the text, for corpus.json");
}

}  // namespace

void add_corpus_command(CLI::App& app, Action& action) {
  CLI::App* const corpus =
      app.add_subcommand("corpus", "List, show, make or import the texts of language models");
  corpus->require_subcommand(1);
  const auto add = [&](const char* name, const char* description, int (*work)(const CorpusOptions&)) {
    CLI::App* const command = corpus->add_subcommand(name, description);
    return std::pair(command, set_action(*command, action, work));
  };
  add("list", "Print the corpora that come with che", list_corpora);
  const auto [show, shown] =
      add("show", "Print what a corpus consists of, and compare its files with their SHA-256", show_corpus);
  show->add_option("CORPUS", shown->corpus, "name or folder of a corpus")->required();
  const auto [made, to_make] = add("make", "Make a corpus of bytes from texts", make);
  made->add_option("SOURCE", to_make->sources,
                   "a .txt, which is a document; a .jsonl or .jsonl.zst, whose lines are documents; or a "
                   "folder of these")
      ->required();
  add_written(*made, *to_make);
  made->add_option("--field", to_make->field, "member of a line of .jsonl that has the text")
      ->capture_default_str();
  made->add_option("--where", to_make->where,
                   "take lines with this value only, such as meta.pile_set_name=ArXiv")
      ->type_name("MEMBER=VALUE");
  const auto [imported, to_import] =
      add("import", "Make a corpus of token files that GPT-NeoX's preprocess_data.py wrote", import);
  imported->add_option("PREFIX", to_import->sources, "the files are PREFIX.bin and PREFIX.idx")
      ->required()
      ->expected(1);
  add_written(*imported, *to_import);
  imported
      ->add_option("--vocabulary", to_import->vocabulary,
                   "ids are below it, such as 50257 for GPT-2's tokens")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 24));
  imported->add_option("--end", to_import->end, "id behind each document, such as 50256")
      ->required()
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 24));
  imported
      ->add_option(
          "--paper", to_import->paper,
          "which text of the DAPE paper this is, in GPT-2's tokens; `che table --paper` then shows the "
          "paper's perplexities beside it")
      ->check(one_of(paper_text_names()));
}

}  // namespace che
