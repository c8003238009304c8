#include "core/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>
#include <vector>

#include "core/new_folder.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using Files = ScratchTest;

namespace fs = std::filesystem;

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_F(Files, WritesAndReplacesEveryByte) {
  const fs::path file = scratch_.path() / "file";
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += static_cast<char>(i % 251);
  write_file_atomically(file, bytes);
  EXPECT_EQ(read_file(file), bytes);
  write_file_atomically(file, "new");
  EXPECT_EQ(read_file(file), "new");
  write_file_atomically(file, "");
  EXPECT_EQ(read_file(file), "");
  EXPECT_EQ(entries(scratch_.path()), 1U) << "a temporary file is left";
}

TEST_F(Files, ReplacesTheFileRatherThanWritingIntoIt) {
  const fs::path file = scratch_.path() / "file";
  write_file_atomically(file, "old content");
  std::ifstream reader(file);
  write_file_atomically(file, "new");
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "old content") << "a reader that has the old file open sees another one";
}

TEST_F(Files, LeavesEverythingAsItWasWhenItFails) {
  const fs::path target = scratch_.path() / "target";
  fs::create_directory(target);
  write_file_atomically(target / "inside", "old");
  const std::string message = message_of([&] { write_file_atomically(target, "new"); });
  expect_contains(message, {target.string(), "a folder"});
  EXPECT_EQ(read_file(target / "inside"), "old");
  EXPECT_EQ(entries(scratch_.path()), 1U) << "a temporary file is left";
}

TEST_F(Files, SaysWhyAFolderTakesNoFile) {
  write_file_atomically(scratch_.path() / "file", "old");
  expect_error(ErrorKind::kRuntime, {"Not a directory"},
               [&] { write_file_atomically(scratch_.path() / "file" / "below", "new"); });
  EXPECT_EQ(read_file(scratch_.path() / "file"), "old");
}

TEST_F(Files, ManyWritersLeaveOneWholeContent) {
  const fs::path file = scratch_.path() / "file";
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&, i] {
      for (int j = 0; j < 50; ++j)
        write_file_atomically(file, std::string(10'000, static_cast<char>('a' + i)));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string content = read_file(file);
  EXPECT_EQ(content, std::string(10'000, content.at(0)));
  EXPECT_EQ(entries(scratch_.path()), 1U);
}

TEST_F(Files, RemovesOnlyTheFilesOfKilledProcesses) {
  for (const char* name : {".status.json.123-4.tmp", ".table.csv.00ff.tmp", ".gitignore", "notes.tmp"}) {
    write_file_atomically(scratch_.path() / name, "");
  }
  const Descriptor writing(open((scratch_.path() / ".table.csv.00ff.tmp").c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(lock_whole_file(writing));
  remove_temporary_files(scratch_.path());
  EXPECT_FALSE(fs::exists(scratch_.path() / ".status.json.123-4.tmp"));
  EXPECT_TRUE(fs::exists(scratch_.path() / ".table.csv.00ff.tmp")) << "of a process that is still writing";
  EXPECT_EQ(entries(scratch_.path()), 3U);
}

// A figure or a table may lie in a folder that the program never locks.
TEST_F(Files, AWriterRemovesTheFilesOfKilledWritersOfTheSameFile) {
  const std::vector<std::string> others = {".table.md.00112233445566ff.tmp", ".table.csv.00ff.tmp",
                                           ".table.csv.00112233445566fg.tmp",
                                           "table.csv.00112233445566ff.tmp"};
  for (const std::string& name : others) write_file_atomically(scratch_.path() / name, "");
  const fs::path killed = scratch_.path() / ".table.csv.00112233445566ff.tmp";
  const fs::path writing = scratch_.path() / ".table.csv.ff112233445566ff.tmp";
  write_file_atomically(killed, "half");
  const Descriptor writer(open(writing.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  ASSERT_TRUE(lock_whole_file(writer));
  write_file_atomically(scratch_.path() / "table.csv", "whole");
  EXPECT_FALSE(fs::exists(killed));
  EXPECT_TRUE(fs::exists(writing)) << "of a process that is still writing";
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(scratch_.path() / name)) << name;
  EXPECT_EQ(read_file(scratch_.path() / "table.csv"), "whole");
}

TEST_F(Files, WritersAndCleanersDoNotDisturbEachOther) {
  std::thread clearing([&] {
    for (int i = 0; i < 300; ++i) remove_temporary_files(scratch_.path());
  });
  for (int i = 0; i < 100; ++i) write_file_atomically(scratch_.path() / "file", std::to_string(i));
  clearing.join();
  EXPECT_EQ(read_file(scratch_.path() / "file"), "99");
  EXPECT_EQ(entries(scratch_.path()), 1U);
}

// A link that was planted where the program writes is replaced; what it leads to stays.
TEST_F(Files, ReplacesALinkAndNotItsTarget) {
  write_file_atomically(scratch_.path() / "precious", "content");
  fs::create_symlink("precious", scratch_.path() / "file");
  write_file_atomically(scratch_.path() / "file", "new");
  EXPECT_EQ(read_file(scratch_.path() / "file"), "new");
  EXPECT_EQ(read_file(scratch_.path() / "precious"), "content");
}

TEST_F(Files, ReplacesNothingButFiles) {
  const fs::path fifo = scratch_.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expect_contains(message_of([&] { write_file_atomically(fifo, "new"); }), {fifo.string(), "a FIFO"});
  EXPECT_TRUE(fs::is_fifo(fifo));
  EXPECT_EQ(entries(scratch_.path()), 1U);
}

// Each of these used to wait for a writer, to be read without end, or to lead elsewhere.
TEST_F(Files, ReadsRegularFilesOnly) {
  const auto expect_refusal = [&](const fs::path& path, const char* kind) {
    expect_error(ErrorKind::kUsage, {"cannot read '" + path.string() + "'", kind, "not a regular file"},
                 [&] { read_file(path); });
  };
  ASSERT_EQ(mkfifo((scratch_.path() / "fifo").c_str(), 0600), 0);
  expect_refusal(scratch_.path() / "fifo", "a FIFO");
  expect_refusal("/dev/zero", "a device");
  expect_refusal(scratch_.path(), "a folder");
  write_file_atomically(scratch_.path() / "file", "content");
  for (const auto& [name, target] :
       {std::pair{"link", "file"}, {"dangling", "absent"}, {"loop", "loop"}, {"endless", "/dev/zero"}}) {
    fs::create_symlink(target, scratch_.path() / name);
    EXPECT_TRUE(is_present(scratch_.path() / name));
    expect_refusal(scratch_.path() / name, "a symbolic link");
  }
  EXPECT_FALSE(is_present(scratch_.path() / "absent"));
}

TEST_F(Files, AnInputMayBeALinkOrAPipe) {
  const fs::path fifo = scratch_.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  fs::create_symlink("fifo", scratch_.path() / "link");
  std::thread writer([&] { std::ofstream(fifo) << "content"; });
  EXPECT_EQ(read_input_file(scratch_.path() / "link", 7), "content");
  writer.join();
  write_file_atomically(scratch_.path() / "file", "content");
  EXPECT_EQ(read_input_file(scratch_.path() / "file", 7), "content");
  expect_contains(message_of([&] { read_input_file(scratch_.path() / "file", 6); }), {"longer than 6 bytes"});
  fs::resize_file(scratch_.path() / "file", std::uintmax_t{1} << 40);
  expect_contains(message_of([&] { read_input_file(scratch_.path() / "file", std::size_t{1} << 39); }),
                  {"longer than 549755813888 bytes"});
  expect_contains(message_of([&] { read_input_file("/dev/zero", 6); }), {"a device"});
}

TEST_F(Files, AnOutputReplacesTheFileThatALinkLeadsTo) {
  fs::create_symlink("target", scratch_.path() / "link");
  for (const char* content : {"first", "second"}) {
    write_output(scratch_.path() / "link", content);
    EXPECT_TRUE(fs::is_symlink(scratch_.path() / "link"));
    EXPECT_EQ(read_file(scratch_.path() / "target"), content);
  }
}

TEST_F(Files, AnOutputThatIsNoFileIsWrittenInto) {
  const fs::path fifo = scratch_.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_input_file(fifo, 100); });
  write_output(fifo, "content");
  reader.join();
  EXPECT_EQ(received, "content");
  EXPECT_TRUE(fs::is_fifo(fifo));
  write_output("/dev/null", "content");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect_contains(message_of([] { write_output("/dev/full", "content"); }), {"/dev/full", "No space left"});
  expect_contains(message_of([&] { write_output(scratch_.path(), "content"); }), {"a folder"});
}

// The output shares its position with other writers, and the file behind it stays.
TEST_F(Files, AnOutputMayBeAnOpenDescriptor) {
  const fs::path path = scratch_.path() / "file";
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(write(file.value(), "before ", 7), 7);
  fs::create_symlink("/dev/fd/" + std::to_string(file.value()), scratch_.path() / "link");
  write_output(scratch_.path() / "link", "content");
  ASSERT_EQ(write(file.value(), " after", 6), 6);
  EXPECT_EQ(read_file(path), "before content after");
}

TEST_F(Files, SettingAsideReplacesNothing) {
  const fs::path file = scratch_.path() / "file";
  fs::create_symlink("absent", scratch_.path() / "file.old");  // It leads nowhere.
  write_file_atomically(file, "first");
  EXPECT_EQ(set_aside(file, "old"), scratch_.path() / "file.old.2");
  fs::create_directory(file);
  EXPECT_EQ(set_aside(file, "old"), scratch_.path() / "file.old.3");
  EXPECT_EQ(read_file(scratch_.path() / "file.old.2"), "first");
  EXPECT_EQ(entries(scratch_.path()), 3U);
}

// The system takes names up to their first NUL.
TEST_F(Files, RefusesNamesWithANul) {
  write_file_atomically(scratch_.path() / "file", "content");
  const fs::path name = scratch_.path() / std::string("file\0more", 9);
  expect_error(ErrorKind::kUsage, {"has a NUL character"}, [&] { write_file_atomically(name, ""); });
  expect_error(ErrorKind::kUsage, {"has a NUL character"}, [&] { write_output(name, ""); });
  expect_error(ErrorKind::kUsage, {"has a NUL character"}, [&] { NewFolder folder(name); });
  expect_error(ErrorKind::kUsage, {"has a NUL character"}, [&] { read_file(name); });
  expect_error(ErrorKind::kUsage, {"has a NUL character"}, [&] { read_input_file(name, 100); });
}

TEST_F(Files, ReadingNamesTheFileAndTheReason) {
  expect_error(ErrorKind::kUsage, {"absent': No such file"}, [&] { read_file(scratch_.path() / "absent"); });
  // Reading it gives an input/output error, as no memory is mapped at its start.
  expect_error(ErrorKind::kRuntime, {}, [] { read_file("/proc/self/mem"); });
}

}  // namespace
}  // namespace che
