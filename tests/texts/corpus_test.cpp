// Corpora: GPT-NeoX's token files, readers, parts, and the refusals of files that are not what they should
// be.
#include "texts/corpus.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "core/file_lock.h"
#include "core/files.h"
#include "core/hashes.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"
#include "tests/zstd_frame.h"
#include "texts/corpus_maker.h"
#include "texts/token_file.h"

namespace che {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::vector<std::int32_t> all_tokens(const Corpus& corpus) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(corpus.card().tokens));
  corpus.copy_tokens(0, corpus.card().tokens, tokens.data());
  return tokens;
}

std::vector<std::string> documents_of(const fs::path& source, const CorpusPlan& with = {}) {
  CorpusPlan plan = with;
  plan.sources = {source};
  std::vector<std::string> documents = {""};
  for_each_document(plan, [&](std::string_view part, bool is_last) {
    documents.back() += part;
    if (is_last) documents.emplace_back();
  });
  documents.pop_back();
  return documents;
}

class CorpusTest : public ScratchTest {
 protected:
  fs::path at(const std::string& name) const { return scratch_.path() / name; }

  // A corpus of "abc" and "\xff" (which is no UTF-8), one each in training and test.
  void make_small() {
    write(at("1.txt"), "abc");
    write(at("2.txt"), "\xff");
    make_corpus({.sources = {at("1.txt"), at("2.txt")}, .split = {1, 0, 1}}, at("small"));
  }
};

TEST(ShippedCorpus, AustenHasSixNovelsInThreeParts) {
  const auto corpus = Corpus::open(CHE_SOURCE_DIR "/data/text/austen");
  EXPECT_EQ(corpus->card().tokens, 4'025'029 + 6);
  EXPECT_EQ(corpus->documents_of(TextPart::kTrain).count, 4);
  EXPECT_EQ(corpus->tokens_of(TextPart::kTest).count, 466'854 + 1);
  // The hash is in the ids of runs.
  EXPECT_EQ(corpus->card().hash(), read_corpus_card(CHE_SOURCE_DIR "/data/text/austen").hash());
  EXPECT_EQ(corpus->card().hash(), "5a8e82007660bccb");
}

TEST_F(CorpusTest, KeepsBytesAndEndsDocuments) {
  make_small();
  const auto corpus = Corpus::open(at("small"));
  EXPECT_EQ(all_tokens(*corpus), (std::vector<std::int32_t>{'a', 'b', 'c', 256, 255, 256}));
  EXPECT_EQ(corpus->document(1).first, 4);
  EXPECT_EQ(corpus->tokens_of(TextPart::kTrain).count, 4);
  EXPECT_EQ(corpus->tokens_of(TextPart::kTest).first, 4);
  EXPECT_EQ(corpus->card().name, "small");
}

// The index as GPT-NeoX's MMapIndexedDataset.Index.writer writes it for these documents.
TEST_F(CorpusTest, WritesTheIndexOfGptNeoX) {
  make_small();
  const std::string index = read_file(at("small/tokens.idx"));
  std::string expected("MMIDIDX\0\0", 9);
  const auto add = [&](std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) expected += static_cast<char>(value >> (8 * i) & 255);
  };
  add(1, 8);
  add(8, 1);  // uint16
  add(2, 8);
  add(3, 8);
  add(4, 4), add(2, 4);             // Lengths.
  add(0, 8), add(8, 8);             // Offsets in bytes.
  add(0, 8), add(1, 8), add(2, 8);  // First sequences.
  EXPECT_EQ(index, expected);
  EXPECT_EQ(read_file(at("small/tokens.bin")).size(), 12U);
}

TEST_F(CorpusTest, ReadsTheSameDocumentsFromEveryForm) {
  const std::vector<std::string> documents = {"one", "two\nlines", "\xc3\xa4"};
  const std::string lines =
      "{\"text\": \"one\", \"meta\": {\"set\": \"A\"}}\n{\"text\": \"two\\nlines\", \"meta\": {\"set\": "
      "\"A\"}}\n \r\n"
      "{\"text\": \"\\u00e4\", \"meta\": {\"set\": \"A\"}}";
  write(at("a.jsonl"), lines);
  write(at("a.jsonl.zst"), zstd_frame(lines));
  fs::create_directories(at("folder/below"));
  write(at("folder/1.txt"), documents[0]);
  write(at("folder/2.txt"), documents[1]);
  write(at("folder/below/3.txt"), documents[2]);
  write(at("folder/picture.png"), "no text");
  for (const char* source : {"a.jsonl", "a.jsonl.zst", "folder"})
    EXPECT_EQ(documents_of(at(source)), documents) << source;
  EXPECT_EQ(documents_of(at("a.jsonl"), {.where = {{"meta.set", "A"}}}).size(), 3U);
  EXPECT_TRUE(documents_of(at("a.jsonl"), {.where = {{"meta.set", "B"}}}).empty());
  EXPECT_TRUE(documents_of(at("a.jsonl"), {.where = {{"meta.other", "A"}}}).empty());
}

TEST_F(CorpusTest, MayBeATextOfThePaper) {
  make_small();
  EXPECT_FALSE(read_corpus_card(at("small")).paper);
  make_corpus({.sources = {at("1.txt")}, .paper = PaperText::kBooks3}, at("books"));
  const CorpusCard card = read_corpus_card(at("books"));
  EXPECT_EQ(card.paper, PaperText::kBooks3);
  // The hash is of tokens, documents and parts.
  CorpusCard other = card;
  other.paper.reset();
  EXPECT_EQ(other.hash(), card.hash());
  EXPECT_FALSE(card.has_gpt2_tokens());
  std::string text = read_file(at("books/corpus.json"));
  text.replace(text.find("books3"), 6, "pile");
  write(at("books/corpus.json"), text);
  expect_error(ErrorKind::kUsage, {"corpus.json: paper: allowed: arxiv, books3, or no such key"},
               [&] { read_corpus_card(at("books")); });
}

TEST_F(CorpusTest, IsMadeByOneProcess) {
  fs::create_directory(at("small"));
  const FileLock other(at("small"));
  EXPECT_NE(std::string::npos, message_of([&] { make_small(); }).find("small"));
  EXPECT_FALSE(fs::exists(at("small") / CorpusCard::kTokenFile));
}

TEST_F(CorpusTest, CountsWhatItLeavesOut) {
  fs::create_directory(at("books"));
  write(at("books/a.jsonl"), "{\"text\": \"\"}\n{\"text\": \"x\"}\n");
  write(at("books/B.TXT"), "another ending");
  const ReadTexts read = make_corpus({.sources = {at("books")}}, at("corpus"));
  EXPECT_EQ(read.empty, 1);
  EXPECT_EQ(read.others, 1);
  EXPECT_EQ(Corpus::open(at("corpus"))->card().documents, 1);
}

// A document comes in parts of one size, however long it is.
TEST_F(CorpusTest, ReadsALongTextInParts) {
  const auto longest_part = [&](std::size_t bytes) {
    write(at("a.txt"), std::string(bytes, 'x'));
    std::size_t longest = 0;
    std::size_t sum = 0;
    int documents = 0;
    for_each_document({.sources = {at("a.txt")}}, [&](std::string_view part, bool is_last) {
      longest = std::max(longest, part.size());
      sum += part.size();
      documents += is_last ? 1 : 0;
    });
    EXPECT_EQ(sum, bytes);
    EXPECT_EQ(documents, 1);
    return longest;
  };
  const std::size_t of_a_short_one = longest_part(1 << 20);
  EXPECT_EQ(longest_part(1 << 22), of_a_short_one);
  const ReadTexts read = make_corpus({.sources = {at("a.txt")}}, at("corpus"));
  EXPECT_EQ(read.empty, 0);
  EXPECT_EQ(Corpus::open(at("corpus"))->document(0).count, (1 << 22) + 1);
}

TEST_F(CorpusTest, RefusesALineWithoutEnd) {
  write(at("a.jsonl.zst"), zstd_frame("{}\n" + std::string(kMaxLineBytes + 1, ' ')));
  expect_error(ErrorKind::kUsage, {"a.jsonl.zst: line 2 has more than 67108864 bytes", "split it"}, [&] {
    documents_of(at("a.jsonl.zst"), {.where = {{"set", "A"}}});
  });
}

// Values of get_train_valid_test_split_ of GPT-NeoX@007d6d0.
TEST(CorpusParts, AreRoundedAsGptNeoXDoes) {
  using Parts = std::array<std::int64_t, 3>;
  EXPECT_EQ(split_documents(1000, {969, 30, 1}), (Parts{969, 30, 1}));
  EXPECT_EQ(split_documents(100, {969, 30, 1}), (Parts{97, 3, 0}));
  EXPECT_EQ(split_documents(1, {969, 30, 1}), (Parts{1, 0, 0}));
  EXPECT_EQ(split_documents(5, {1, 1, 1}), (Parts{1, 2, 2}));
  EXPECT_EQ(split_documents(3, {0, 1, 1}), (Parts{0, 1, 2})) << "-1 there";
}

TEST_F(CorpusTest, ImportsTokenFiles) {
  TokenWriter writer(at("x.bin"), 70'000);
  writer.add({69'999, 5, 0});
  writer.add({1, 0});
  write_file_atomically(at("x.idx"), token_index_bytes(writer.finish()));
  EXPECT_EQ(0, import_corpus(at("x"), {.split = {1, 0, 1}}, 70'000, 0, at("corpus")));
  EXPECT_EQ(all_tokens(*Corpus::open(at("corpus"))), (std::vector<std::int32_t>{69'999, 5, 0, 1, 0}));
  expect_error(ErrorKind::kUsage, {"tokens.bin", "token 0 has the id 69999", "--vocabulary"},
               [&] { import_corpus(at("x"), {}, 60'000, 0, at("other")); });
  EXPECT_FALSE(fs::exists(at("other/corpus.json")));
  EXPECT_EQ(2, import_corpus(at("x"), {}, 70'000, 1, at("other"))) << "documents that end otherwise";
  EXPECT_EQ(Corpus::open(at("other"))->hashed_files().front().sha256, sha256(read_file(at("x.bin"))));
  // The corpus is a copy, of which a change is found.
  std::string tokens = read_file(at("x.bin"));
  tokens[4] = 6;
  write(at("x.bin"), tokens);
  import_corpus(at("x"), {.name = "again"}, 70'000, 0, at("again"));
  EXPECT_EQ(all_tokens(*Corpus::open(at("again")))[1], 6);
  EXPECT_EQ(all_tokens(*Corpus::open(at("other")))[1], 5);
  import_corpus(at("x"), {.name = "changed"}, 70'000, 0, at("changed"));
  write(at("changed/tokens.bin"), read_file(at("other/tokens.bin")));
  expect_error(ErrorKind::kUsage, {"changed/tokens.bin", "SHA-256"}, [&] { Corpus::open(at("changed")); });
  // A change after the corpus was opened, too.
  const std::shared_ptr<const Corpus> corpus = Corpus::open(at("other"));
  write(at("other/tokens.bin"), tokens);
  fs::last_write_time(at("other/tokens.bin"), fs::last_write_time(at("x.bin")) + std::chrono::seconds(1));
  expect_error(ErrorKind::kUsage, {"other/tokens.bin", "was written to while it was read"},
               [&] { all_tokens(*corpus); });
  // Token files of somebody else stay as they are, and a failed import leaves none.
  fs::create_directory(at("theirs"));
  write(at("theirs/tokens.bin"), "precious");
  expect_error(ErrorKind::kUsage, {"theirs holds tokens.bin", "-o"},
               [&] { import_corpus(at("x"), {}, 70'000, 0, at("theirs")); });
  EXPECT_EQ(read_file(at("theirs/tokens.bin")), "precious");
  // An import in place would be no copy.
  fs::create_directory(at("place"));
  fs::copy(at("x.bin"), at("place/tokens.bin"));
  fs::copy(at("x.idx"), at("place/tokens.idx"));
  write(at("place/.corpus_begun"), "");
  expect_error(ErrorKind::kUsage, {"place/tokens would be copied to itself", "-o"},
               [&] { import_corpus(at("place/tokens"), {}, 70'000, 0, at("place")); });
  EXPECT_TRUE(fs::exists(at("place/tokens.bin")) && fs::exists(at("place/tokens.idx")));
  expect_error(ErrorKind::kUsage, {"token 0 has the id 69999"},
               [&] { import_corpus(at("x"), {}, 60'000, 0, at("failed")); });
  for (const auto& entry : fs::directory_iterator(at("failed"))) {
    EXPECT_TRUE(is_lock_file(entry.path().filename().string())) << entry.path();
  }
  write_file_atomically(at("none.idx"), token_index_bytes({.token_bytes = 2, .starts = {0, 0}}));
  write(at("none.bin"), "");
  expect_error(ErrorKind::kUsage, {"none.idx", "no tokens"},
               [&] { import_corpus(at("none"), {}, 10, 0, at("none")); });
}

TEST_F(CorpusTest, IsMadeAgainWhereAKilledProcessLeftAPart) {
  write(at("1.txt"), "abc");
  write(at("2.txt"), "x");
  fs::create_directory(at("killed"));
  write(at("killed/.corpus_begun"), "");
  write(at("killed/tokens.bin"), "a part");
  write(at("killed/tokens.idx"), "a part");
  make_corpus({.sources = {at("1.txt")}}, at("killed"));
  EXPECT_EQ(all_tokens(*Corpus::open(at("killed"))).size(), 4U);
  EXPECT_FALSE(fs::exists(at("killed/.corpus_begun")));
  // Without that mark they are somebody's.
  fs::remove(at("killed/corpus.json"));
  const std::string tokens = read_file(at("killed/tokens.bin"));
  expect_error(ErrorKind::kUsage, {"holds tokens.bin"},
               [&] { make_corpus({.sources = {at("2.txt")}}, at("killed")); });
  EXPECT_EQ(read_file(at("killed/tokens.bin")), tokens);
  // A failure leaves none.
  write(at("empty.txt"), "");
  expect_error(ErrorKind::kUsage, {"no document"},
               [&] { make_corpus({.sources = {at("empty.txt")}}, at("failed")); });
  for (const auto& entry : fs::directory_iterator(at("failed"))) {
    EXPECT_TRUE(is_lock_file(entry.path().filename().string())) << entry.path();
  }
}

// Data of gigabytes often lie on another disk. Where there is a link already, nothing is written.
TEST_F(CorpusTest, MayHaveLinksToItsFiles) {
  make_small();
  fs::create_directory(at("disk"));
  for (const char* file : {"tokens.bin", "tokens.idx", "corpus.json"}) {
    fs::rename(at("small") / file, at("disk") / file);
    fs::create_symlink(at("disk") / file, at("small") / file);
  }
  EXPECT_EQ(all_tokens(*Corpus::open(at("small"))).size(), 6U);
  import_corpus(at("small/tokens"), {}, 257, 256, at("copy"));
  EXPECT_FALSE(fs::is_symlink(at("copy/tokens.bin")));
  EXPECT_FALSE(fs::is_symlink(at("copy/tokens.idx")));
  EXPECT_EQ(documents_of(at("small")).size(), 0U);
  fs::create_symlink(at("1.txt"), at("small/linked.txt"));
  EXPECT_EQ(documents_of(at("small")), (std::vector<std::string>{"abc"}));
  fs::create_directory(at("new"));
  fs::create_symlink(at("1.txt"), at("new/tokens.idx"));
  expect_error(ErrorKind::kUsage, {"new holds tokens.idx"},
               [&] { make_corpus({.sources = {at("2.txt")}}, at("new")); });
  fs::remove(at("new/tokens.idx"));
  fs::create_symlink(at("absent"), at("new/tokens.idx"));
  expect_error(ErrorKind::kUsage, {"new holds tokens.idx"},
               [&] { make_corpus({.sources = {at("2.txt")}}, at("new")); });
  fs::create_symlink(at("absent"), at("dangling"));
  expect_error(ErrorKind::kUsage, {"cannot create", "dangling: No such file"},
               [&] { make_corpus({.sources = {at("2.txt")}}, at("dangling")); });
  EXPECT_FALSE(fs::exists(at("absent")));
}

// Another process may write the file anew while a run reads it.
TEST_F(CorpusTest, ThatIsCutOffWhileItIsOpenIsNamed) {
  make_small();
  const auto corpus = Corpus::open(at("small"));
  fs::resize_file(at("small/tokens.bin"), 5);
  std::vector<std::int32_t> tokens(4);
  expect_error(ErrorKind::kUsage, {"small/tokens.bin", "was written to"},
               [&] { corpus->copy_tokens(0, 2, tokens.data()); });
  expect_error(ErrorKind::kUsage, {"small/tokens.bin", "ends at byte 5"},
               [&] { corpus->copy_tokens(1, 4, tokens.data()); });
  expect_error(ErrorKind::kUsage, {"small/tokens.bin", "ends at byte 5"}, [&] { corpus->hashed_files(); });
}

TEST_F(CorpusTest, RefusesWhatIsNotAsItShouldBe) {
  make_small();
  const auto refused = [&](const std::vector<std::string>& parts) {
    expect_error(ErrorKind::kUsage, parts, [&] { Corpus::open(at("small")); });
  };
  const std::string card = read_file(at("small/corpus.json"));
  const std::string tokens = read_file(at("small/tokens.bin"));
  const auto with_hash = [&](const std::string& digits) {  // Another hash, so that the corpus is opened anew.
    std::string text = card;
    return text.replace(text.rfind("sha256\": \"") + 10, 4, digits);
  };
  write(at("small/corpus.json"), with_hash("0000"));
  refused({"tokens.idx", "SHA-256", "make or import the corpus again"});
  write(at("small/corpus.json"), with_hash("1111"));
  write(at("small/tokens.bin"), tokens.substr(0, 8));
  refused({"tokens.bin", "8 bytes", "12"});
  write(at("small/tokens.idx"), read_file(at("small/tokens.idx")).substr(0, 30));
  refused({"tokens.idx", "cut off"});
  // A corpus of texts with another number of tokens, and with another vocabulary.
  const auto text_card = [&](const std::string& vocabulary, const std::string& count) {
    write(at("small/corpus.json"),
          R"({"name": "x", "tokenizer": "bytes", "end": 256, "documents": 1, "bytes": 3, "source": "",
              "licence": "", "parts": {"train": 1, "validation": 0, "test": 0}, "files": [{"name": "1.txt",
              "sha256": ")" +
              sha256("abc") + "\"}], \"vocabulary\": " + vocabulary + ", \"tokens\": " + count + "}");
  };
  write(at("small/1.txt"), "abc");
  text_card("257", "17592186044416");
  refused({"4 tokens", "corpus.json says 1 of 17592186044416"});
  text_card("300", "4");
  refused({"vocabulary: allowed: 257 of texts"});
  write(at("small/corpus.json"), R"({"name": "small", "name": "other"})");
  refused({"corpus.json: an object has the key 'name' twice", "make or import the corpus again"});
  write(at("small/corpus.json"), "[" + std::string(9, '['));
  refused({"corpus.json: nested more than 4 deep", "make or import the corpus again"});
  // A file that is listed often is not read once.
  std::string often = card;
  often.replace(often.find("\"documents\": 2"), 14, "\"documents\": 3");
  often.replace(often.find("\"test\": 1"), 9, "\"test\": 2");
  often.replace(often.find("tokens.idx"), 10, "tokens.bin");
  write(at("small/corpus.json"), often);
  refused({"corpus.json: files: allowed: each file once; tokens.bin is listed twice"});
  write(at("small/corpus.json"), "{\"name\": \"small\"}");
  refused({"corpus.json", "tokenizer", "a text"});
  expect_error(ErrorKind::kUsage, {"1.txt", "was read already"}, [&] {
    for_each_document({.sources = {at("small"), at("small/1.txt")}}, [](auto, auto) {});
  });
  expect_error(ErrorKind::kUsage, {"there is no corpus 'nowhere'", "austen"},
               [] { corpus_folder("nowhere"); });
  write(at("bad.jsonl"), "{\"text\": \"x\"}\n{\"body\": \"x\"}\n");
  expect_error(ErrorKind::kUsage, {"bad.jsonl", "line 2", "--field"}, [&] { documents_of(at("bad.jsonl")); });
  write(at("bad.jsonl"), "{\"text\": \"x\", \"text\": \"y\"}\n");
  expect_error(ErrorKind::kUsage, {"bad.jsonl", "line 1: an object has the key 'text' twice"},
               [&] { documents_of(at("bad.jsonl")); });
  write(at("bad.jsonl.zst"), zstd_frame("{\"text\": \"x\"}\n").substr(0, 12));
  expect_error(ErrorKind::kUsage, {"bad.jsonl.zst", "cut off"}, [&] { documents_of(at("bad.jsonl.zst")); });
  expect_error(ErrorKind::kUsage, {"/dev/zero: is neither a file nor a folder"},
               [] { documents_of("/dev/zero"); });
  fs::create_directory(at("loop"));
  write(at("loop/a.txt"), "x");
  fs::create_symlink(".", at("loop/self"));
  expect_error(ErrorKind::kUsage, {"loop/self", "is a link to a folder"}, [&] { documents_of(at("loop")); });
  expect_error(ErrorKind::kUsage, {"cannot be called '../x'"},
               [&] { make_corpus({.name = "../x", .sources = {at("1.txt")}}, at("unnamed")); });
  EXPECT_FALSE(fs::exists(at("unnamed")));
  expect_error(ErrorKind::kUsage, {"holds a corpus", "-o"},
               [&] { make_corpus({.sources = {at("1.txt")}}, at("small")); });
}

}  // namespace
}  // namespace che
