#include "texts/corpus.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/bounded_json.h"
#include "core/error.h"
#include "core/files.h"
#include "core/hashes.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "texts/token_file.h"

namespace che {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::int64_t kMaxTokens = std::int64_t{1} << 44;
constexpr JsonLimits kCardLimits{.depth = 4, .bytes = std::size_t{1} << 20, .values = 100'000};
// All zero where the file has none.
struct stat status_of(const Descriptor& file) {
  struct stat status {};
  if (fstat(file.value(), &status) != 0) status = {};
  return status;
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

constexpr const char* kRemedy = "; make or import the corpus again (che corpus make --help)";

// Reads members of corpus.json.
class CardReader {
 public:
  explicit CardReader(const fs::path& file) : file_(one_line(file.string(), kWholeText)) {
    const std::string text = read_input_file(file, kCardLimits.bytes);
    try {
      json_ = parse_bounded_json(text, kCardLimits);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}{}", file_, error.what(), kRemedy));
    }
    if (!json_.is_object()) throw Error(fmt::format("{}: is no object of JSON{}", file_, kRemedy));
  }

  [[noreturn]] void fail(std::string_view key, std::string_view allowed) const {
    throw Error(fmt::format("{}: {}: allowed: {}", file_, key, allowed));
  }

  std::int64_t integer(const Json& object, std::string_view key, std::int64_t min, std::int64_t max) const {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer() || *found < min || *found > max) {
      fail(key, fmt::format("a whole number from {} to {}", min, max));
    }
    return *found;
  }

  std::string text(const Json& object, std::string_view key) const {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) fail(key, "a text");
    return one_line(found->get<std::string>(), kWholeText);
  }

  PaperText paper_text() const {
    try {
      return paper_text_named(text(json_, "paper"));
    } catch (const Error&) {
      fail("paper", fmt::format("{}, or no such key", fmt::join(paper_text_names(), ", ")));
    }
  }

  const Json& json() const { return json_; }

 private:
  std::string file_;
  Json json_;
};

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool has_card(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / CorpusCard::kFileName, ignored);
}

// Where corpora that come with che may lie: beside the folder of the program, as in a checkout, and in the
// source that it was built from, for a program that was copied. The Python package names no source.
std::vector<fs::path> shipped_folders() {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  std::vector<fs::path> folders = {program.parent_path().parent_path() / "data" / "text"};
#ifdef CHE_TEXT_FOLDER
  if (folders.front() != CHE_TEXT_FOLDER) folders.emplace_back(CHE_TEXT_FOLDER);
#endif
  return folders;
}

// The folders of corpora that come with che, by their names.
std::map<std::string, fs::path, std::less<>> shipped() {
  std::map<std::string, fs::path, std::less<>> found;
  std::error_code none;
  for (const fs::path& folder : shipped_folders()) {
    for (const fs::path& entry : entries_of(folder, none)) {
      if (has_card(entry)) found.emplace(entry.filename().string(), entry);
    }
  }
  return found;
}

}  // namespace

const std::vector<std::string>& text_part_names() {
  static const std::vector<std::string> names = {"train", "validation", "test"};
  return names;
}

const std::vector<std::string>& paper_text_names() {
  static const std::vector<std::string> names = {"arxiv", "books3"};
  return names;
}

PaperText paper_text_named(std::string_view name) {
  const auto& names = paper_text_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw Error(fmt::format("allowed: {}", fmt::join(names, " or ")));
  return static_cast<PaperText>(found - names.begin());
}

std::string CorpusCard::hash() const {
  std::string text =
      fmt::format("che-corpus-1\n{}\n{} {}\n{}\n", tokenizer, vocabulary, end, fmt::join(parts, " "));
  for (const File& file : files) text += file.sha256 + "\n";
  return sha256(text).substr(0, 16);
}

std::string CorpusCard::to_json() const {
  nlohmann::ordered_json json{{"name", name},  {"tokenizer", tokenizer}, {"vocabulary", vocabulary},
                              {"end", end},    {"documents", documents}, {"tokens", tokens},
                              {"bytes", bytes}};
  for (std::size_t i = 0; i < parts.size(); ++i) json["parts"][text_part_names()[i]] = parts[i];
  json["source"] = source;
  json["licence"] = licence;
  if (paper) json["paper"] = paper_text_names()[static_cast<std::size_t>(*paper)];
  for (const File& file : files) json["files"].push_back({{"name", file.name}, {"sha256", file.sha256}});
  return json.dump(2) + "\n";
}

CorpusCard read_corpus_card(const fs::path& folder) {
  const CardReader reader(folder / CorpusCard::kFileName);
  const Json& json = reader.json();
  CorpusCard card{.name = reader.text(json, "name"), .tokenizer = reader.text(json, "tokenizer")};
  if (!is_plain_name(card.name, kMaxCorpusName)) {
    reader.fail("name", plain_name_form(kMaxCorpusName));
  }
  card.vocabulary = reader.integer(json, "vocabulary", 1, std::int64_t{1} << 24);
  card.end = reader.integer(json, "end", 0, card.vocabulary - 1);
  card.documents = reader.integer(json, "documents", 1, kMaxTokens);
  card.tokens = reader.integer(json, "tokens", 1, kMaxTokens);
  card.bytes = reader.integer(json, "bytes", 0, kMaxTokens);
  const auto parts = json.find("parts");
  if (parts == json.end() || !parts->is_object()) reader.fail("parts", "an object of counts of documents");
  std::int64_t documents = 0;
  for (std::size_t i = 0; i < card.parts.size(); ++i) {
    card.parts[i] = reader.integer(*parts, text_part_names()[i], 0, card.documents);
    documents += card.parts[i];
  }
  if (documents != card.documents) reader.fail("parts", "counts whose sum is documents");
  card.source = reader.text(json, "source");
  card.licence = reader.text(json, "licence");
  if (json.contains("paper")) card.paper = reader.paper_text();
  const auto files = json.find("files");
  if (files == json.end() || !files->is_array() || files->empty()) reader.fail("files", "a list of files");
  std::set<std::string> names;
  for (const Json& file : *files) {
    card.files.push_back({reader.text(file, "name"), reader.text(file, "sha256")});
    const std::string& name = card.files.back().name;
    if (!is_plain_name(name, kMaxCorpusName)) reader.fail("files", "names of files in the same folder");
    if (!names.insert(name).second) {
      reader.fail("files", fmt::format("each file once; {} is listed twice", name));
    }
    if (!is_sha256(card.files.back().sha256)) reader.fail("files", "sha256 of 64 hexadecimal digits");
  }
  const bool are_two = card.files.size() == 2 && card.files.back().name == CorpusCard::kIndexFile;
  if (card.is_tokenized() ? !are_two : static_cast<std::int64_t>(card.files.size()) != card.documents) {
    reader.fail("files", "tokens.bin and tokens.idx, or one text for each document");
  }
  if (!card.is_tokenized() && (card.vocabulary != kByteEnd + 1 || card.end != kByteEnd)) {
    reader.fail("vocabulary", fmt::format("{} of texts, with the end {}", kByteEnd + 1, kByteEnd));
  }
  return card;
}

std::vector<std::string> shipped_corpora() {
  std::vector<std::string> names;
  for (const auto& [name, folder] : shipped()) names.push_back(name);
  return names;
}

fs::path corpus_folder(std::string_view name_or_folder) {
  const auto known = shipped();
  if (const auto found = known.find(name_or_folder); found != known.end()) return found->second;
  if (has_card(name_or_folder)) return fs::canonical(name_or_folder);
  const std::string hint = known.empty()
                               ? fmt::format("; none comes with this program, which looks in {}",
                                             joined(shipped_folders(), " and ",
                                                    [](const fs::path& path) { return path.string(); }))
                               : known_names_hint(name_or_folder, shipped_corpora());
  throw Error(
      fmt::format("there is no corpus '{}'; name one that comes with che, or a folder that `che corpus make` "
                  "or `che corpus import` wrote{}",
                  one_line(name_or_folder), hint));
}

Corpus::Corpus(fs::path folder, CorpusCard card) : folder_(std::move(folder)), card_(std::move(card)) {
  card_.is_tokenized() ? open_tokens() : read_texts();
  const auto documents = static_cast<std::int64_t>(starts_.size()) - 1;
  if (documents != card_.documents || starts_.back() != card_.tokens) {
    throw Error(fmt::format("{}: there are {} of {} in all, and corpus.json says {} of {}{}",
                            folder_.string(), counted(documents, "document"),
                            counted(starts_.back(), "token"), card_.documents, card_.tokens, kRemedy));
  }
}

std::shared_ptr<const Corpus> Corpus::open(const fs::path& folder) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::shared_ptr<const Corpus>> opened;
  CorpusCard card = read_corpus_card(folder);
  const std::scoped_lock lock(mutex);
  std::shared_ptr<const Corpus>& corpus = opened[{fs::absolute(folder).string(), card.hash()}];
  if (corpus == nullptr) {
    std::shared_ptr<const Corpus> read(new Corpus(folder, std::move(card)));
    read->verify();
    corpus = std::move(read);
  }
  return corpus;
}

std::unique_ptr<const Corpus> Corpus::unlisted(const fs::path& folder, const CorpusCard& card) {
  return std::unique_ptr<const Corpus>(new Corpus(folder, card));
}

void Corpus::read_texts() {
  starts_ = {0};
  for (const CorpusCard::File& file : card_.files) {
    const std::string text = read_file(link_target(folder_ / file.name));
    read_hashes_.push_back({file.name, sha256(text)});
    for (const char byte : text) read_.push_back(static_cast<unsigned char>(byte));
    read_.push_back(kByteEnd);
    starts_.push_back(static_cast<std::int64_t>(read_.size()));
  }
}

void Corpus::open_tokens() {
  TokenIndex index = read_token_index(link_target(folder_ / CorpusCard::kIndexFile));
  starts_ = std::move(index.starts);
  token_bytes_ = index.token_bytes;
  token_path_ = link_target(folder_ / CorpusCard::kTokenFile);
  token_file_ = open_regular_file(token_path_, O_RDONLY, "read", ErrorKind::kUsage);
  const struct stat status = status_of(token_file_);
  written_ = nanoseconds(status.st_mtim);
  if (status.st_size != starts_.back() * token_bytes_) {
    throw Error(fmt::format("{}: has {} bytes, and tokens.idx lists tokens of {}{}", token_path_.string(),
                            status.st_size, starts_.back() * token_bytes_, kRemedy));
  }
}

TextSpan Corpus::document(std::int64_t index) const {
  const auto i = static_cast<std::size_t>(index);
  return {.first = starts_[i], .count = starts_[i + 1] - starts_[i]};
}

TextSpan Corpus::documents_of(TextPart part) const {
  TextSpan span;
  const auto index = static_cast<std::size_t>(part);
  for (std::size_t i = 0; i < index; ++i) span.first += card_.parts[i];
  span.count = card_.parts[index];
  return span;
}

TextSpan Corpus::tokens_of(TextPart part) const {
  const TextSpan documents = documents_of(part);
  const std::int64_t first = starts_[static_cast<std::size_t>(documents.first)];
  return {.first = first, .count = starts_[static_cast<std::size_t>(documents.end())] - first};
}

void Corpus::copy_tokens(std::int64_t first, std::int64_t count, std::int32_t* out) const {
  if (first < 0 || count < 0 || count > card_.tokens - first) {
    throw Error(fmt::format("{}: there are no tokens {} to {}; it has {}", folder_.string(), first,
                            first + count - 1, card_.tokens));
  }
  const std::span<std::int32_t> tokens(out, static_cast<std::size_t>(count));
  if (!token_file_.is_open()) {
    std::ranges::copy_n(read_.begin() + first, count, out);
  } else if (token_bytes_ == 4) {
    read_tokens(first, tokens);
  } else {
    std::vector<std::uint16_t> ids(tokens.size());
    read_tokens(first, std::span(ids));
    std::ranges::copy(ids, out);
  }
  const auto beyond =
      std::find_if(out, out + count, [&](std::int32_t id) { return id < 0 || id >= card_.vocabulary; });
  if (beyond == out + count) return;
  throw Error(fmt::format(
      "{}: token {} has the id {}, and ids are below the vocabulary, {}; import the corpus again with "
      "its --vocabulary",
      (folder_ / CorpusCard::kTokenFile).string(), first + (beyond - out), *beyond, card_.vocabulary));
}

template <class Id>
void Corpus::read_tokens(std::int64_t first, std::span<Id> ids) const {
  const auto bytes = std::as_writable_bytes(ids);
  read_at(token_file_, token_path_, first * token_bytes_,
          {reinterpret_cast<char*>(bytes.data()), bytes.size()});
  if (nanoseconds(status_of(token_file_).st_mtim) == written_) return;
  throw Error(fmt::format("{}: it was written to while it was read{}", token_path_.string(), kRemedy));
}

std::vector<CorpusCard::File> Corpus::hashed_files() const {
  if (!card_.is_tokenized()) return read_hashes_;
  return {{CorpusCard::kTokenFile, sha256(token_file_, token_path_, starts_.back() * token_bytes_)},
          {CorpusCard::kIndexFile, sha256(read_file(link_target(folder_ / CorpusCard::kIndexFile)))}};
}

void Corpus::verify() const {
  const std::vector<CorpusCard::File> files = hashed_files();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].sha256 != card_.files[i].sha256) {
      throw Error(fmt::format("{}: its SHA-256 is {}, and corpus.json says {}{}",
                              (folder_ / files[i].name).string(), files[i].sha256, card_.files[i].sha256,
                              kRemedy));
    }
  }
}

std::string token_text(const CorpusCard& card, const std::vector<std::int32_t>& tokens) {
  if (card.tokenizer != "bytes") return fmt::format("{}", fmt::join(tokens, " "));
  std::string text;
  for (const std::int32_t token : tokens) {
    if (token == card.end) {
      text += "<end>";
    } else {
      text += static_cast<char>(token);
    }
  }
  return text;
}

}  // namespace che
