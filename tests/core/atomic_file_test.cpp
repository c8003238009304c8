#include "core/atomic_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>
#include <vector>

#include "core/error.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(AtomicFile, WritesAndReplacesEveryByte) {
  const ScratchFolder folder;
  const fs::path file = folder.path() / "file";
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += static_cast<char>(i % 251);
  write_file_atomically(file, bytes);
  EXPECT_EQ(read_file(file), bytes);
  write_file_atomically(file, "new");
  EXPECT_EQ(read_file(file), "new");
  write_file_atomically(file, "");
  EXPECT_EQ(read_file(file), "");
  EXPECT_EQ(entries(folder.path()), 1U) << "a temporary file is left";
}

TEST(AtomicFile, ReplacesTheFileRatherThanWritingIntoIt) {
  const ScratchFolder folder;
  const fs::path file = folder.path() / "file";
  write_file_atomically(file, "old content");
  std::ifstream reader(file);
  write_file_atomically(file, "new");
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "old content") << "a reader that has the old file open sees another one";
}

TEST(AtomicFile, LeavesEverythingAsItWasWhenItFails) {
  const ScratchFolder folder;
  // A folder that is not empty cannot be renamed over: the last step fails.
  const fs::path target = folder.path() / "target";
  fs::create_directory(target);
  write_file_atomically(target / "inside", "old");
  const std::string message = message_of([&] { write_file_atomically(target, "new"); });
  EXPECT_NE(message.find(target.string()), std::string::npos) << message;
  EXPECT_NE(message.find("directory"), std::string::npos) << message;
  EXPECT_EQ(read_file(target / "inside"), "old");
  EXPECT_EQ(entries(folder.path()), 1U) << "a temporary file is left";
}

TEST(AtomicFile, SaysWhyAFolderTakesNoFile) {
  const ScratchFolder folder;
  write_file_atomically(folder.path() / "file", "old");
  try {
    write_file_atomically(folder.path() / "file" / "below", "new");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kRuntime);
    EXPECT_NE(std::string(error.what()).find("Not a directory"), std::string::npos) << error.what();
  }
  EXPECT_EQ(read_file(folder.path() / "file"), "old");
}

TEST(AtomicFile, ManyWritersLeaveOneWholeContent) {
  const ScratchFolder folder;
  const fs::path file = folder.path() / "file";
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&, i] {
      for (int j = 0; j < 10; ++j)
        write_file_atomically(file, std::string(10'000, static_cast<char>('a' + i)));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string content = read_file(file);
  EXPECT_EQ(content, std::string(10'000, content.at(0)));
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(AtomicFile, WhatAKilledProcessLeftIsRemovedAndNothingElse) {
  const ScratchFolder folder;
  for (const char* name : {".status.json.123-4.tmp", ".gitignore", "notes.tmp"}) {
    write_file_atomically(folder.path() / name, "");
  }
  remove_temporary_files(folder.path());
  EXPECT_FALSE(fs::exists(folder.path() / ".status.json.123-4.tmp"));
  EXPECT_EQ(entries(folder.path()), 2U);
}

TEST(AtomicFile, ReadingNamesTheFileAndTheReason) {
  const ScratchFolder folder;
  try {
    read_file(folder.path() / "absent");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kUsage);
    EXPECT_NE(std::string(error.what()).find("absent': No such file"), std::string::npos) << error.what();
  }
  EXPECT_NE(message_of([&] { read_file(folder.path()); }).find("Is a directory"), std::string::npos);
  try {
    read_file("/proc/self/mem");  // Nothing is mapped at its start: an input/output error.
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kRuntime) << error.what();
  }
}

}  // namespace
}  // namespace che
