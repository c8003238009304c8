#include "texts/corpus_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "core/bounded_json.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "core/files.h"
#include "core/input_file.h"
#include "core/text.h"
#include "texts/token_file.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr JsonLimits kLineLimits{.depth = 64, .bytes = kMaxLineBytes, .values = 10'000'000};

[[noreturn]] void fail_reading(const fs::path& file, std::string_view problem) {
  throw Error(fmt::format("{}: {}", one_line(file.string(), kWholeText), problem));
}

// Hands on the lines of a file that comes in parts.
class LineSplitter {
 public:
  using Take = std::function<void(std::int64_t number, std::string_view line)>;

  LineSplitter(const fs::path& file, Take take) : file_(file), take_(std::move(take)) {}

  void add(std::string_view part) {
    for (std::size_t end = part.find('\n'); end != std::string_view::npos; end = part.find('\n')) {
      extend(part.substr(0, end));
      take_(number_++, open_);
      open_.clear();
      part.remove_prefix(end + 1);
    }
    extend(part);
  }

  void finish() {
    if (!open_.empty()) take_(number_, open_);
  }

 private:
  void extend(std::string_view part) {
    if (part.size() > kMaxLineBytes - open_.size()) {
      fail_reading(file_,
                   fmt::format("line {} has more than {} bytes, which a line may have; split it, or write "
                               "its text into a .txt",
                               number_, kMaxLineBytes));
    }
    open_ += part;
  }

  const fs::path& file_;
  Take take_;
  std::int64_t number_ = 1;
  std::string open_;
};

// Null where a line has no such member.
const nlohmann::json* member_at(const nlohmann::json& line, std::string_view path) {
  const nlohmann::json* at = &line;
  while (at->is_object()) {
    const std::size_t dot = path.find('.');
    const auto found = at->find(path.substr(0, dot));
    if (found == at->end()) return nullptr;
    at = &*found;
    if (dot == std::string_view::npos) return at;
    path.remove_prefix(dot + 1);
  }
  return nullptr;
}

class DocumentReader {
 public:
  DocumentReader(const CorpusPlan& plan, const TakePart& take) : plan_(plan), take_(take) {}

  void read(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      std::error_code error;
      const auto [open, is_new] = open_folders_.insert(fs::canonical(path));
      if (!is_new) fail_reading(path, "is a link to a folder that it lies in; take it out");
      for (const fs::path& entry : entries_of(path, error)) {
        if (fs::is_directory(entry, ignored) || is_text(entry)) {
          read(entry);
        } else {
          ++counts_.others;
        }
      }
      if (error) fail_reading(path, error.message());
      open_folders_.erase(open);
      return;
    }
    if (!fs::exists(path, ignored)) fail_reading(path, "there is no such file or folder");
    if (!fs::is_regular_file(path, ignored)) fail_reading(path, "is neither a file nor a folder");
    if (!is_text(path)) fail_reading(path, "allowed: .txt, .jsonl, .jsonl.zst, and folders of these");
    if (!read_files_.insert(fs::canonical(path)).second) {
      fail_reading(
          path, "was read already, under this name or another; its documents would be in the corpus twice");
    }
    InputFile input(path);
    if (path.extension() == ".txt") {
      for (std::string_view part = input.next(); !part.empty(); part = input.next()) {
        take(part, /*is_last=*/false);
      }
      take("", /*is_last=*/true);
      return;
    }
    LineSplitter lines(path,
                       [&](std::int64_t number, std::string_view line) { read_line(path, number, line); });
    for (std::string_view part = input.next(); !part.empty(); part = input.next()) lines.add(part);
    lines.finish();
  }

  const ReadTexts& counts() const { return counts_; }

 private:
  static bool is_text(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.ends_with(".txt") || name.ends_with(".jsonl") || name.ends_with(".jsonl.zst");
  }

  void read_line(const fs::path& path, std::int64_t number, std::string_view text) {
    const auto fail = [&](std::string_view problem) {
      fail_reading(path, fmt::format("line {}: {}", number, problem));
    };
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    nlohmann::json line;
    try {
      line = parse_bounded_json(text, kLineLimits);
    } catch (const Error& error) {
      fail(error.what());
    }
    if (!line.is_object()) fail("is no object of JSON");
    if (plan_.where) {
      const nlohmann::json* const value = member_at(line, plan_.where->first);
      // A list or an object is no value.
      if (value == nullptr || value->is_structured() ||
          (value->is_string() ? value->get<std::string>() : value->dump()) != plan_.where->second) {
        ++counts_.skipped;
        return;
      }
    }
    const nlohmann::json* const document = member_at(line, plan_.field);
    if (document == nullptr || !document->is_string()) {
      fail(fmt::format("has no text in '{}'; --field names the member that has it", one_line(plan_.field)));
    }
    take(document->get_ref<const std::string&>(), /*is_last=*/true);
  }

  void take(std::string_view part, bool is_last) {
    is_open_ |= !part.empty();
    if (is_open_) take_(part, is_last);
    if (!is_last) return;
    if (!is_open_) ++counts_.empty;
    is_open_ = false;
  }

  const CorpusPlan& plan_;
  const TakePart& take_;
  ReadTexts counts_;
  bool is_open_ = false;             // A document with a text.
  std::set<fs::path> open_folders_;  // Around what is read.
  std::set<fs::path> read_files_;
};

// Returns the name of the corpus that is to be made. Throws Error (usage) where there can be none.
std::string checked_name(const CorpusPlan& plan, const fs::path& folder) {
  std::string name =
      plan.name.empty() ? fs::absolute(folder / "").parent_path().filename().string() : plan.name;
  if (is_plain_name(name, kMaxCorpusName)) return name;
  throw Error(fmt::format("a corpus cannot be called '{}'; --name gives it a name of {}", one_line(name),
                          plain_name_form(kMaxCorpusName)));
}

// A folder in which this process alone makes a corpus. Files that are not finished are removed: at the end by
// this process, and those of a killed one, which have a mark beside them, by the next.
class NewCorpus {
 public:
  // Throws Error (usage) where the corpus has no name, and where the folder holds one or token files.
  NewCorpus(const CorpusPlan& plan, fs::path folder)
      : plan_(plan), folder_(std::move(folder)), name_(checked_name(plan, folder_)), lock_(locked()) {
    refuse_present_files();  // Another process may have made them before the lock was taken.
    remove_token_files();
    write_file_atomically(mark(), "");
  }
  ~NewCorpus() {
    std::error_code ignored;
    if (!is_finished_) remove_token_files();
    fs::remove(mark(), ignored);
  }
  NewCorpus(const NewCorpus&) = delete;
  NewCorpus& operator=(const NewCorpus&) = delete;

  const std::string& name() const { return name_; }
  fs::path tokens() const { return folder_ / CorpusCard::kTokenFile; }

  // Writes the index, and the card with the parts that the plan and the documents decide on.
  // Returns how many documents do not end with card.end.
  std::int64_t finish(CorpusCard card, std::string_view index) {
    write_file_atomically(folder_ / CorpusCard::kIndexFile, index);
    card.parts = split_documents(card.documents, plan_.split);
    card.source = plan_.source;
    card.licence = plan_.licence;
    card.paper = plan_.paper;
    card.files = {{.name = CorpusCard::kTokenFile, .sha256 = ""},
                  {.name = CorpusCard::kIndexFile, .sha256 = ""}};
    // Reads every token once.
    const auto corpus = Corpus::unlisted(folder_, card);
    constexpr std::int64_t kBlock = 1 << 20;
    std::vector<std::int32_t> tokens(kBlock);
    for (std::int64_t first = 0; first < card.tokens; first += kBlock) {
      corpus->copy_tokens(first, std::min(kBlock, card.tokens - first), tokens.data());
    }
    std::int64_t others = 0;
    for (std::int64_t i = 0; i < card.documents; ++i) {
      const TextSpan document = corpus->document(i);
      std::int32_t last = -1;
      if (document.count > 0) corpus->copy_tokens(document.end() - 1, 1, &last);
      if (last != card.end) ++others;
    }
    card.files = corpus->hashed_files();
    write_file_atomically(folder_ / CorpusCard::kFileName, card.to_json());
    is_finished_ = true;
    return others;
  }

 private:
  static constexpr std::array kTokenFiles{CorpusCard::kTokenFile, CorpusCard::kIndexFile};

  fs::path mark() const { return folder_ / ".corpus_begun"; }

  void refuse_present_files() const {
    const auto refuse = [&](const char* file, std::string_view what) {
      if (!is_present(folder_ / file)) return;
      throw Error(fmt::format("{} holds {}; name another folder with -o, or delete that one",
                              folder_.string(), what));
    };
    refuse(CorpusCard::kFileName, "a corpus");
    if (is_present(mark())) return;
    for (const char* file : kTokenFiles) refuse(file, file);
  }

  FileLock locked() const {
    refuse_present_files();
    if (const std::error_code error = create_folder(folder_)) {
      throw Error(fmt::format("cannot create {}: {}", folder_.string(), error.message()));
    }
    return FileLock(folder_);
  }

  void remove_token_files() const {
    std::error_code ignored;
    for (const char* file : kTokenFiles) fs::remove(folder_ / file, ignored);
  }

  const CorpusPlan& plan_;
  fs::path folder_;
  std::string name_;
  FileLock lock_;
  bool is_finished_ = false;
};

}  // namespace

ReadTexts for_each_document(const CorpusPlan& plan, const TakePart& take) {
  DocumentReader reader(plan, take);
  for (const fs::path& source : plan.sources) reader.read(source);
  return reader.counts();
}

ReadTexts make_corpus(const CorpusPlan& plan, const fs::path& folder) {
  NewCorpus corpus(plan, folder);
  CorpusCard card{.name = corpus.name(), .tokenizer = "bytes", .vocabulary = kByteEnd + 1, .end = kByteEnd};
  TokenWriter writer(corpus.tokens(), card.vocabulary);
  std::vector<std::int32_t> tokens;
  const ReadTexts counts = for_each_document(plan, [&](std::string_view part, bool is_last) {
    tokens.clear();
    for (const char byte : part) tokens.push_back(static_cast<unsigned char>(byte));
    if (is_last) tokens.push_back(kByteEnd);
    writer.add(tokens, is_last);
    card.bytes += static_cast<std::int64_t>(part.size());
    card.documents += is_last ? 1 : 0;
  });
  if (card.documents == 0) throw Error("the sources have no document with a text");
  card.tokens = card.bytes + card.documents;
  corpus.finish(std::move(card), token_index_bytes(writer.finish()));
  return counts;
}

std::int64_t import_corpus(const fs::path& prefix, const CorpusPlan& plan, std::int64_t vocabulary,
                           std::int64_t end, const fs::path& folder) {
  const fs::path index_file = link_target(fs::path(prefix) += ".idx");
  const fs::path token_file = fs::path(prefix) += ".bin";
  // Token files of a corpus that was begun and given up are removed.
  std::error_code ignored;
  if (fs::equivalent(token_file, folder / CorpusCard::kTokenFile, ignored) ||
      fs::equivalent(index_file, folder / CorpusCard::kIndexFile, ignored)) {
    throw Error(fmt::format("{} would be copied to itself; name another folder with -o", prefix.string()));
  }
  const TokenIndex index = read_token_index(index_file);
  NewCorpus corpus(plan, folder);
  CorpusCard card{.name = corpus.name(), .tokenizer = "imported", .vocabulary = vocabulary, .end = end};
  card.documents = static_cast<std::int64_t>(index.starts.size()) - 1;
  card.tokens = index.starts.back();
  if (card.tokens == 0) throw Error(fmt::format("{} lists no tokens", index_file.string()));
  // A copy: a program that writes its output anew must not change the corpus of trained runs.
  std::error_code error;
  if (!fs::copy_file(token_file, corpus.tokens(), error)) {
    throw Error(fmt::format("cannot copy {} to {}: {}", token_file.string(), corpus.tokens().string(),
                            error.message()));
  }
  return corpus.finish(std::move(card), read_file(index_file));
}

std::array<std::int64_t, 3> split_documents(std::int64_t documents,
                                            const std::array<std::int64_t, 3>& split) {
  const auto sum = static_cast<double>(split[0] + split[1] + split[2]);
  std::array<std::int64_t, 4> index{};
  for (std::size_t i = 0; i < split.size(); ++i) {
    const double share = static_cast<double>(split[i]) / sum * static_cast<double>(documents);
    index[i + 1] = index[i] + static_cast<std::int64_t>(std::nearbyint(share));
  }
  const std::int64_t excess = index[3] - documents;
  std::array<std::int64_t, 3> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    index[i + 1] = std::max(index[i + 1] - excess, index[i]);
    parts[i] = index[i + 1] - index[i];
  }
  return parts;
}

}  // namespace che
