#include "workloads/text_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.h"
#include "core/text.h"

namespace che {

void TextConfig::read_card(std::string_view name_or_folder) {
  const std::filesystem::path folder = corpus_folder(name_or_folder);
  const CorpusCard card = read_corpus_card(folder);
  const std::vector<std::string> shipped = shipped_corpora();
  const bool is_shipped = std::ranges::find(shipped, name_or_folder) != shipped.end();
  const std::filesystem::path here(name_or_folder);
  std::error_code error;
  if (is_shipped && std::filesystem::exists(here / CorpusCard::kFileName, error) &&
      read_corpus_card(here).hash() != card.hash()) {
    throw Error(fmt::format(
        "{0} is a corpus that comes with che, and the folder {0} has another one; write ./{0} for the "
        "folder, or rename it",
        name_or_folder));
  }
  corpus = is_shipped ? card.name : folder.string();
  if (one_line(corpus, kWholeText) != corpus) {
    throw Error(
        fmt::format("the path {} of a corpus has characters that no config holds; allowed: UTF-8 without "
                    "tabs, line breaks and control characters",
                    one_line(corpus, kWholeText)));
  }
  name = card.name;
  hash = card.hash();
}

void TextConfig::reset(std::string_view name_or_folder) {
  *this = TextConfig();
  if (!name_or_folder.empty()) read_card(name_or_folder);
}

void TextConfig::visit_fields(FieldVisitor& visit) {
  // The name is a part of the name of a run's folder.
  const auto as_a_name = [](std::string_view text) {
    if (is_plain_name(text, kMaxCorpusName)) return std::string(text);
    throw Error(fmt::format("got '{}'; allowed: {}", one_line(text), plain_name_form(kMaxCorpusName)));
  };
  // A stored config has all three, and is read where the corpus is no more. A written one has the corpus.
  const std::string old_name = name;
  const std::string old_hash = hash;
  visit.text({"name", "of the corpus, as its corpus.json has it; a config need not say it"}, name, as_a_name);
  visit.text({"hash", "of the corpus' contents; a config need not say it"}, hash, one_line_text);
  visit.role(Role::kExecution);
  visit.text({"corpus", "name of a corpus that comes with che, or the folder of one"}, corpus,
             [&](std::string_view text) {
               if (hash != old_hash && !name.empty()) return one_line_text(text);
               if (text == corpus) return corpus;
               const std::string asked_name = name == old_name ? "" : name;
               const std::string asked_hash = hash == old_hash ? "" : hash;
               read_card(text);
               if ((asked_name.empty() || asked_name == name) && (asked_hash.empty() || asked_hash == hash)) {
                 return corpus;
               }
               throw Error(
                   fmt::format("the corpus has the name {} and the hash {}, and {} is asked for; leave "
                               "name and hash out, or name another corpus",
                               name, hash, one_line(asked_name.empty() ? asked_hash : asked_name)));
             });
  visit.role(Role::kCell);
  if (!is_set()) return;
  visit.choice({"documents", "packed: windows of training run over ends of documents; separate: they do not"},
               documents, {"packed", "separate"});
}

void TextEvaluation::visit_fields(FieldVisitor& visit) {
  visit.role(Role::kEvaluation);
  visit.choice({"part", "which part of the corpus is read"}, part, text_part_names());
  visit.choice(
      {"protocol", "which predictions count: the last ones of each window, all, or those of a stride"},
      protocol, {"last", "full", "sliding"});
  visit.integer({"last", "predictions of each window that count with protocol last"}, last, 1, 1'000'000);
  visit.integer({"stride", "tokens from one window's end to the next, with protocol sliding"}, stride, 1,
                1'000'000);
  visit.choice(
      {"windows", "aligned: windows of all lengths end with the same tokens; packed: chunks of the part"},
      windows, {"aligned", "packed"});
  visit.integer({.name = "longest",
                 .help = "length up to which aligned windows fit into their documents",
                 .zero_word = "auto"},
                longest, 1, 1'000'000);
  visit.role(Role::kExecution);  // It changes no score.
  visit.boolean({"curve", "whether the loss at each position of the longest test length is stored"}, curve);
}

std::optional<ConfigProblem> TextEvaluation::idle_setting() const {
  const TextEvaluation defaults;
  const bool slides = protocol == TextProtocol::kSliding;
  if (slides && windows == WindowChoice::kPacked) {
    return ConfigProblem{{"evaluation.windows", "evaluation.protocol"},
                         "windows of protocol sliding end every evaluation.stride tokens, and packed ones do "
                         "not; leave evaluation.windows out, or take protocol last or full"};
  }
  if (last != defaults.last && protocol != TextProtocol::kLast) {
    return ConfigProblem{{"evaluation.last", "evaluation.protocol"},
                         fmt::format("got last: {} beside protocol {}, which counts other predictions; leave "
                                     "last out, or set the protocol to last",
                                     last, slides ? "sliding" : "full")};
  }
  if (stride != defaults.stride && !slides) {
    return ConfigProblem{{"evaluation.stride", "evaluation.protocol"},
                         fmt::format("got stride: {} beside protocol {}, whose windows have none; leave "
                                     "stride out, or set the protocol to sliding",
                                     stride, protocol == TextProtocol::kLast ? "last" : "full")};
  }
  if (longest != defaults.longest && windows == WindowChoice::kPacked) {
    return ConfigProblem{{"evaluation.longest", "evaluation.windows"},
                         fmt::format("got longest: {} beside packed windows, which end where their length "
                                     "does; leave longest out, or set windows to aligned",
                                     longest)};
  }
  return std::nullopt;
}

}  // namespace che
