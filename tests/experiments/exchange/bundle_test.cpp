#include "experiments/exchange/bundle.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/hashes.h"
#include "experiments/exchange/archive.h"
#include "experiments/plan/identity.h"
#include "models/architectures/foreign.h"
#include "tasks/declared/task_definition.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"
#include "tests/zstd_frame.h"

namespace che {
namespace {

namespace fs = std::filesystem;

class Bundle : public testing::Test {
 protected:
  Bundle() {
    fs::create_directories(experiment());
    for (std::int64_t seed = 0; seed < 2; ++seed) {
      store_run(experiment(), made_up_config("even_pairs", "rope", seed), RunState::kFinished, 0.75);
    }
  }

  fs::path experiment() const { return scratch_.path() / "made_up"; }
  fs::path file() const { return scratch_.path() / "made_up.tar.zst"; }

  // The message with which the bundle is refused.
  std::string refusal() const {
    return message_of([&] { verify_bundle(file()); });
  }

  // The archive as it is before it is compressed.
  std::string tar() const {
    const std::string compressed = read_file(file());
    std::string result(1 << 20, '\0');
    result.resize(ZSTD_decompress(result.data(), result.size(), compressed.data(), compressed.size() - 40));
    return result;
  }

  // Replaces the bundle by an archive with its right hash at its end.
  void pack(const std::string& tar) const { seal(zstd_frame(tar)); }

  // Writes the bundle of these compressed bytes.
  void seal(std::string compressed) const {
    const std::string digits = sha256(compressed);
    compressed += std::string("\x50\x2a\x4d\x18\x20\x00\x00\x00", 8);
    for (std::size_t i = 0; i < digits.size(); i += 2) {
      compressed += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    }
    write_file_atomically(file(), compressed);
  }

  // Changes the header that begins at byte `at` and sets its sum right.
  static std::string with_header(std::string tar, std::size_t at, const std::function<void(char*)>& change) {
    char* const header = tar.data() + at;
    change(header);
    std::fill(header + 148, header + 156, ' ');
    unsigned sum = 0;
    for (int i = 0; i < 512; ++i) sum += static_cast<unsigned char>(header[i]);
    fmt::format_to_n(header + 148, 6, "{:06o}", sum);
    header[154] = '\0';
    return tar;
  }

  // Where the second file's header begins, behind the manifest.
  static std::size_t second_header(const std::string& tar) {
    return (std::stoul(tar.substr(124, 11), nullptr, 8) + 1023) / 512 * 512;
  }

 private:
  ScratchFolder scratch_;
};

TEST_F(Bundle, HoldsWhatTheManifestSays) {
  const BundleSummary written = write_bundle(experiment(), file());
  const BundleSummary verified = verify_bundle(file());
  EXPECT_EQ(describe(written, file()), describe(verified, file()));
  EXPECT_EQ("made_up", verified.name);
  EXPECT_EQ(2U, verified.runs);
  EXPECT_EQ(9U, verified.files);
  EXPECT_TRUE(verified.is_complete());
  EXPECT_EQ((std::map<std::string, std::set<std::int64_t>>{{"even_pairs", {1}}}), verified.task_versions);
  ASSERT_EQ(1U, verified.seeds.size());
  EXPECT_EQ(2U, verified.seeds.begin()->second);
  EXPECT_EQ(sha256(read_file(file())), verified.digits);
  expect_contains(describe(verified, file()),
                  {"2 runs of the experiment made_up, 9 files", verified.digits, "even_pairs (version 1)",
                   "2 finished in each cell, of 1 cell", "every run in it has a score"});
}

TEST_F(Bundle, NamesEveryVersionOfATask) {
  std::set<std::string> digests;
  for (const int version : {1, 2}) {
    const RunConfig config = made_up_declared_config(fmt::format("version: {}\n", version));
    digests.insert(definition_digest(config.task.definition));
    store_run(experiment(), config, RunState::kFinished, 0.75);
  }
  write_bundle(experiment(), file());
  const BundleSummary verified = verify_bundle(file());
  EXPECT_EQ((std::set<std::int64_t>{1, 2}), verified.task_versions.at("no_two"));
  // Its name alone does not tell which language it is.
  expect_contains(describe(verified, file()),
                  {fmt::format("even_pairs (version 1), no_two (version 1 and 2; definition {})",
                               fmt::join(digests, " and definition "))});
  expect_contains(tar(), {"\"no_two\": [", "\"even_pairs\": 1"});
}

TEST_F(Bundle, IsReadWhereAnIdBeginsAnotherOne) {
  const auto of_model = [&](const std::string& name) {
    RunConfig config = made_up_config("even_pairs", "rope");
    config.model = foreign_model(name);
    const RunFolder run = store_run(experiment(), config, RunState::kFinished, 0.75);
    std::vector<EvaluationRow> rows = run.evaluation();
    for (EvaluationRow& row : rows) row.loss = std::numeric_limits<double>::quiet_NaN();
    run.write_evaluation(rows);
    run.write_metrics({});
    RunStatus status = run.status();
    status.step = 0;
    run.write_status(status);
    return run.id();
  };
  const std::string first = of_model("m");
  EXPECT_TRUE(of_model(first.substr(std::string("even_pairs-").size())).starts_with(first + "-"));
  write_bundle(experiment(), file());
  EXPECT_EQ(4U, verify_bundle(file()).runs);
}

TEST_F(Bundle, HasRuns) {
  write_bundle(experiment(), file());
  const std::string whole = tar();
  std::string manifest = whole.substr(512, whole.find('\0', 512) - 512);
  for (const auto& [list, end] :
       {std::pair("\"tasks\": {", '}'), {"\"seeds\": {", '}'}, {"\"files\": [", ']'}}) {
    const std::size_t begin = manifest.find(list) + std::string(list).size();
    manifest.erase(begin, manifest.find(end, begin) - begin);
  }
  const std::string alone = with_header(whole.substr(0, 512), 0, [&](char* header) {
    fmt::format_to_n(header + 124, 11, "{:011o}", manifest.size());
  });
  pack(alone + manifest + std::string(1024 + (512 - manifest.size() % 512) % 512, '\0'));
  expect_contains(refusal(), {"made_up", "holds no run"});
}

TEST_F(Bundle, HasTheEvaluationOnTheWay) {
  const RunFolder run =
      store_run(experiment(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75);
  run.write_at_steps({{500, run.evaluation()}});
  EXPECT_EQ(10U, write_bundle(experiment(), file()).files);
  std::size_t with_rows = 0;
  verify_bundle(file(), [&](const BundledRun& bundled) {
    if (bundled.id != run.id()) return;
    ASSERT_EQ(1U, bundled.at_steps.size());
    EXPECT_EQ(run.evaluation().size(), bundled.at_steps.at(500).size());
    ++with_rows;
  });
  EXPECT_EQ(1U, with_rows);
  write_file_atomically(run.path() / "evaluation_at_steps.csv", "torn");
  EXPECT_NE("(no error)", message_of([&] { write_bundle(experiment(), file()); }));
  fs::resize_file(run.path() / "evaluation_at_steps.csv", std::uintmax_t{1} << 40);
  expect_contains(message_of([&] { write_bundle(experiment(), file()); }),
                  {"evaluation_at_steps.csv': it has 1099511627776 bytes; allowed: 67108864"});
}

// A status with a right checksum that `che run` does not write.
TEST_F(Bundle, HandsOutItsRuns) {
  write_bundle(experiment(), file());
  std::vector<BundledRun> runs;
  verify_bundle(file(), [&](BundledRun run) { runs.push_back(std::move(run)); });
  ASSERT_EQ(2U, runs.size());
  EXPECT_LT(runs[0].id, runs[1].id);
  for (const BundledRun& run : runs) {
    EXPECT_EQ(run_id(run.config), run.id);
    EXPECT_EQ(RunState::kFinished, run.status.state);
    EXPECT_EQ(0.75, score(run.evaluation, run.config));
    EXPECT_EQ(2U, run.metrics.size());
  }
}

TEST_F(Bundle, HasNoCheckpointsAndTheSameBytesForTheSameResults) {
  write_bundle(experiment(), file());
  const std::string first = read_file(file());
  for (const auto& entry : fs::directory_iterator(experiment() / "runs")) {
    write_file_atomically(entry.path() / "checkpoint.bin", "parameters");
    fs::last_write_time(entry.path() / "config.yaml", fs::file_time_type::clock::now());
  }
  write_bundle(experiment(), file());
  EXPECT_EQ(first, read_file(file()));
}

TEST_F(Bundle, IsUnpackedWhereNothingIs) {
  const std::string digits = write_bundle(experiment(), file()).digits;
  const ScratchFolder other;
  const fs::path folder = other.path() / experiment().filename();
  EXPECT_EQ(digits, unpack_bundle(file(), folder / "").digits);
  EXPECT_EQ(digits, write_bundle(folder, other.path() / "again.tar.zst").digits);
  expect_contains(message_of([&] { unpack_bundle(file(), folder); }), {"is there already"});
  expect_contains(message_of([&] { unpack_bundle(file(), folder / "../new/./"); }), {"name of a new folder"});
  const std::string bytes = read_file(file());
  write_file_atomically(file(), bytes.substr(0, bytes.size() / 2));
  EXPECT_NE("(no error)", message_of([&] { unpack_bundle(file(), other.path() / "half"); }));
  EXPECT_FALSE(fs::exists(other.path() / "half"));
  std::error_code error;
  EXPECT_EQ(2U, entries_of(other.path(), error).size()) << "the copy and its bundle";
}

// Until it is whole it lies in a folder that is new: none of a like name is emptied.
TEST_F(Bundle, IsUnpackedNextToWhatOthersHave) {
  write_bundle(experiment(), file());
  const ScratchFolder other;
  const fs::path theirs = other.path() / ".copy.unpacking";
  fs::create_directory(theirs);
  write_file_atomically(theirs / "precious.csv", "x");
  unpack_bundle(file(), other.path() / "copy");
  EXPECT_EQ("x", read_file(theirs / "precious.csv"));
  fs::create_symlink("absent", other.path() / "link");
  expect_contains(message_of([&] { unpack_bundle(file(), other.path() / "link"); }), {"is there already"});
  std::error_code error;
  EXPECT_EQ(3U, entries_of(other.path(), error).size()) << "and nothing is left over";
}

TEST_F(Bundle, UnpackedRemovesWhatAKilledUnpackLeft) {
  write_bundle(experiment(), file());
  const ScratchFolder other;
  const fs::path left = other.path() / ".copy.00112233445566ff.tmp";
  fs::create_directories(left / "runs" / "some");
  write_file_atomically(left / "MANIFEST.json", "half");
  unpack_bundle(file(), other.path() / "copy");
  std::error_code error;
  EXPECT_EQ(std::vector<fs::path>{other.path() / "copy"}, entries_of(other.path(), error));
}

TEST_F(Bundle, WithRunsWithoutAScoreSaysWhich) {
  const RunFolder run = store_run(experiment(), made_up_config("even_pairs", "none"), RunState::kFailed);
  write_bundle(experiment(), file());
  const BundleSummary summary = verify_bundle(file());
  EXPECT_FALSE(summary.is_complete());
  EXPECT_EQ((std::map<std::string, std::string>{{run.id(), "failed"}}), summary.unfinished);
  EXPECT_EQ(1, std::ranges::count_if(summary.seeds, [](const auto& seeds) { return seeds.second == 0; }));
  expect_contains(describe(summary, file()), {"0 to 2 finished", run.id() + ": failed"});
}

TEST_F(Bundle, WithOneChangedByteIsRefused) {
  write_bundle(experiment(), file());
  const std::string whole = read_file(file());
  for (std::size_t at = 0; at < whole.size(); at += at + 64 < whole.size() && at > 64 ? 17 : 1) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write_file_atomically(file(), changed);
    EXPECT_TRUE(contains(refusal(), file().string())) << "byte " << at << ": " << refusal();
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{39}, whole.size() / 2, whole.size() - 1}) {
    write_file_atomically(file(), whole.substr(0, size));
    EXPECT_TRUE(contains(refusal(), "cut off")) << size << ": " << refusal();
  }
}

TEST_F(Bundle, NamesTheFileThatWasChanged) {
  write_bundle(experiment(), file());
  std::string changed = tar();
  const std::size_t at = changed.find("0.75");
  ASSERT_NE(std::string::npos, at);
  changed[at + 2] = '8';
  pack(changed);
  expect_contains(refusal(), {"/evaluation.csv: has been changed"});
  // Behind the end of a file.
  std::string padded = tar();
  padded[second_header(padded) - 1] = 'x';
  pack(padded);
  expect_contains(refusal(), {"MANIFEST.json: its entry has another owner, time, mode or form"});
}

TEST_F(Bundle, RefusesWhatItDoesNotWrite) {
  write_bundle(experiment(), file());
  const std::string good = tar();
  pack(good);
  EXPECT_EQ(2U, verify_bundle(file()).runs) << "packed again with another level";
  const std::size_t at = second_header(good);
  const auto refused = [&](const std::function<void(char*)>& change, const std::string& part) {
    pack(with_header(good, at, change));
    EXPECT_TRUE(contains(refusal(), part)) << part << ": " << refusal();
  };
  refused([](char* header) { std::copy_n("2target", 7, header + 156); }, "is a link");
  refused([](char* header) { std::copy_n("1target", 7, header + 156); }, "is a link");
  refused([](char* header) { header[156] = '1'; }, "another owner, time, mode or form");  // To no target.
  refused([](char* header) { header[156] = '3'; }, "is a device");
  refused([](char* header) { header[156] = '6'; }, "is a device or FIFO");
  refused([](char* header) { header[156] = '5'; }, "is a folder");
  refused([](char* header) { header[156] = 'L'; }, "a character that is none of");  // A name.
  refused([](char* header) { header[156] = 'x'; }, "malformed pax");
  refused([](char* header) { header[156] = 'S'; }, "another owner, time, mode or form");
  refused([](char* header) { std::copy_n("ustar  ", 8, header + 257); }, "an extension");
  refused([](char* header) { std::fill_n(header + 257, 8, '\0'); }, "an extension");
  refused([](char* header) { header[0] = '/'; }, "an absolute path");
  refused([](char* header) { std::copy_n("../", 3, header); }, "leaves the archive");
  refused([](char* header) { header[8] = '\\'; }, "a character that is none of");
  refused([](char* header) { std::copy_n("77777777777", 11, header + 124); }, "has 8589934591 bytes");
  refused([](char* header) { header[124] = '9'; }, "another owner, time, mode or form");
  refused([](char* header) { header[124] = '\xff'; }, "negative size");
  refused([](char* header) { header[102] = '4'; }, "another owner, time, mode");
  refused([](char* header) { header[136] = '1'; }, "another owner, time, mode");
  refused([](char* header) { header[106] = '7'; }, "another owner, time, mode");
  refused([](char* header) { header[13] = 'X'; }, "is not in the manifest");
  const std::string skipped("\x50\x2a\x4d\x18\x01\x00\x00\x00x", 9);
  for (const auto& [compressed, part] : std::vector<std::pair<std::string, std::string>>{
           {zstd_frame(good.substr(0, good.size() - 1024)), "is cut off"},
           {zstd_frame(good + std::string(512, '\0')), "behind its end"},
           {zstd_frame(good) + zstd_frame("hidden"), "behind its end"},
           {zstd_frame(good.substr(0, at)) + zstd_frame(good.substr(at)), "behind its end"},
           {zstd_frame(good) + skipped, "behind its end"},
           {skipped + zstd_frame(good), "behind its end"},
           {zstd_frame(zstd_frame(good)), "Damaged tar archive"},
           {good, "not one frame of Zstandard"},
           {zstd_frame(good.substr(0, good.size() - 1024) + std::string(512, '\0') + std::string(512, 'x')),
            "another owner, time, mode or form"},
           {zstd_frame(good.substr(0, at) + std::string(1024, '\0')),
            "is in the manifest and not in the bundle"},
       }) {
    seal(compressed);
    expect_contains(refusal(), {part});
  }
}

// Every message says where in the manifest what is wrong and what is allowed.
TEST_F(Bundle, RefusesAManifestThatIsNone) {
  const auto refused = [&](const std::string& manifest, const std::string& part) {
    ArchiveWriter archive(file());
    archive.add("made_up/MANIFEST.json", manifest);
    archive.finish();
    expect_contains(refusal(), {"made_up/MANIFEST.json: ", part});
    EXPECT_FALSE(contains(refusal(), "json.exception")) << refusal();
  };
  const std::string head =
      R"("format": "che-bundle/1", "name": "made_up", "version": "0.2.0", "git_commit": "x")";
  refused("[1]", "its content: got array; allowed: a JSON object");
  refused("{\"format\": }", "not JSON: cannot be read from column 12 on");
  refused("{}", "format: is missing; allowed: a text");
  refused(R"({"format": "che-bundle/1", "format": "che-bundle/1"})", "has the key 'format' twice");
  std::string many = "[0";
  for (int i = 0; i < 2'000'000; ++i) many += ",0";
  refused(many + "]", "has more than 2000000 values");
  refused(R"({"format": 1})", "format: got number; allowed: a text");
  refused(R"({"format": "che-bundle/2"})", "format: got 'che-bundle/2'; allowed: che-bundle/1");
  refused("{" + head + "}", "files: is missing; allowed: a list");
  refused("{" + head + R"(, "files": [1]})", "files[0]: got number; allowed: a JSON object");
  refused("{" + head + R"(, "files": [{"path": "a", "bytes": -1}]})",
          "files[0].bytes: got number; allowed: a whole number >= 0");
  refused("{" + head + R"(, "files": [{"path": "a", "bytes": 1}]})", "files[0].sha256: is missing");
}

TEST_F(Bundle, NamesEachFileOnceInItsManifest) {
  write_bundle(experiment(), file());
  std::vector<ArchivedFile> files;
  ArchiveReader reader(file());
  while (std::optional<ArchivedFile> next = reader.next()) files.push_back(std::move(*next));
  std::string& manifest = files.front().content;
  const std::size_t list = manifest.find("\"files\": [") + 10;
  const std::size_t end = manifest.find("},", list) + 2;
  manifest.insert(list, manifest.substr(list, end - list));
  ArchiveWriter writer(file());
  for (const ArchivedFile& next : files) writer.add(next.path, next.content);
  writer.finish();
  expect_contains(refusal(), {"MANIFEST.json: does not say what the bundle holds"});
}

TEST_F(Bundle, OfDamagedResultsIsNotWritten) {
  const RunFolder run = RunFolder::open(fs::directory_iterator(experiment() / "runs")->path());
  std::string rows = read_file(run.path() / "evaluation.csv");
  rows.replace(rows.find("0.75"), 4, "0.95");
  write_file_atomically(run.path() / "evaluation.csv", rows);
  expect_contains(message_of([&] { write_bundle(experiment(), file()); }), {"evaluation.csv"});
  EXPECT_FALSE(fs::exists(file()));
}

}  // namespace
}  // namespace che
