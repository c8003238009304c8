#include "experiments/exchange/archive.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/hashes.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(Archive, HasALimitedSize) {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch.path() / "archive.tar.zst";
  const auto write = [&](const ArchiveLimits& limits) {
    ArchiveWriter writer(file, limits);
    writer.add("a", "12345");
    writer.add("b", "678");
    writer.finish();
  };
  const auto read = [&](const ArchiveLimits& limits) {
    ArchiveReader reader(file, limits);
    while (reader.next()) {
    }
  };
  const ArchiveLimits fitting{.file_bytes = 5, .all_bytes = 8};
  const ArchiveLimits small{.file_bytes = 4, .all_bytes = 8};
  const ArchiveLimits few{.file_bytes = 5, .all_bytes = 7};
  write(fitting);
  read(fitting);
  expect_contains(message_of([&] { read(small); }), {": a: has 5 bytes; allowed: 4"});
  expect_contains(message_of([&] { read(few); }), {": b: is beyond 7 bytes in all"});
  expect_contains(message_of([&] { write(small); }),
                  {"'a' has 5 bytes; an archive holds files of at most 4"});
  expect_contains(message_of([&] { write(few); }), {"'b': an archive holds at most 7 bytes in all"});
}

TEST(ArchivedPath, StaysInTheArchive) {
  EXPECT_EQ("", archived_path_problem("a/b-1.2/c_d+e.csv"));
  EXPECT_EQ("", archived_path_problem(std::string(100, 'a')));
  EXPECT_EQ("", archived_path_problem(std::string(155, 'a') + "/" + std::string(100, 'b')));
  EXPECT_NE("", archived_path_problem(std::string(101, 'a')));
  EXPECT_NE("", archived_path_problem(std::string(156, 'a') + "/b"));
  for (const char* const path :
       {"", "/a", "a//b", "a/", ".", "..", "../a", "a/../b", "a/./b", "a b", "a\nb", "\xc3\xa4"}) {
    EXPECT_NE("", archived_path_problem(path)) << path;
  }
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", sha256(""));
  EXPECT_EQ("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", sha256("abc"));
}

}  // namespace
}  // namespace che
