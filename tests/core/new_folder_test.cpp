#include "core/new_folder.h"

#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/files.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;

class NewFolderTest : public ScratchTest {
 protected:
  std::vector<fs::path> entries() const {
    std::error_code error;
    return entries_of(scratch_.path(), error);
  }

  const fs::path path_ = scratch_.path() / "copy";
};

TEST_F(NewFolderTest, AppearsWholeOrNotAtAll) {
  {
    const NewFolder folder(path_);
    write_file_atomically(folder.begun() / "file", "half");
  }
  EXPECT_TRUE(entries().empty());
  NewFolder folder(path_);
  write_file_atomically(folder.begun() / "file", "whole");
  EXPECT_FALSE(fs::exists(path_));
  folder.finish();
  EXPECT_EQ(std::vector{path_}, entries());
  EXPECT_EQ("whole", read_file(path_ / "file"));
}

TEST_F(NewFolderTest, RemovesWhatKilledProcessesLeftOfTheSamePath) {
  const std::vector<std::string> others = {".other.00112233445566ff.tmp", ".copy.00112233445566fg.tmp",
                                           ".copy.unpacking"};
  for (const std::string& name : others) fs::create_directory(scratch_.path() / name);
  const fs::path link = scratch_.path() / ".copy.2200112233445566.tmp";
  fs::create_directory_symlink(others[0], link);
  const fs::path killed = scratch_.path() / ".copy.00112233445566ff.tmp";
  fs::create_directories(killed / "runs" / "some");
  fs::create_symlink(scratch_.path(), killed / "link");
  const NewFolder writing(path_);
  EXPECT_FALSE(fs::exists(killed));
  EXPECT_TRUE(fs::is_symlink(link));
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(scratch_.path() / name)) << name;
  NewFolder second(path_);
  EXPECT_TRUE(fs::exists(writing.begun())) << "of a process that is still writing";
  second.finish();
}

TEST_F(NewFolderTest, IsNotFinishedWhenItWasRemoved) {
  NewFolder folder(path_);
  fs::rename(folder.begun(), scratch_.path() / "elsewhere");
  write_file_atomically(scratch_.path() / "elsewhere" / "first", "x");
  fs::create_directory(folder.begun());  // As the next file's writer does.
  expect_error(ErrorKind::kRuntime, {path_.string(), "another process has removed"},
               [&] { folder.finish(); });
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(NewFolderTest, ReplacesNothing) {
  NewFolder folder(path_);
  write_file_atomically(path_, "theirs");
  expect_error(ErrorKind::kRuntime, {path_.string(), "Not a directory"}, [&] { folder.finish(); });
  EXPECT_EQ("theirs", read_file(path_));
}

TEST_F(NewFolderTest, OfOneNameDoNotDisturbEachOther) {
  std::vector<std::thread> makers;
  for (int i = 0; i < 4; ++i) {
    makers.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        const NewFolder folder(path_);
        write_file_atomically(folder.begun() / "file", "x");
        EXPECT_EQ("x", read_file(folder.begun() / "file"));
      }
    });
  }
  for (std::thread& maker : makers) maker.join();
  EXPECT_TRUE(entries().empty());
}

}  // namespace
}  // namespace che
