#include "core/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "core/files.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"
#include "tests/zstd_frame.h"

namespace che {
namespace {

using InputFileTest = ScratchTest;

std::string all_of(InputFile& input, std::size_t* longest = nullptr) {
  std::string text;
  for (std::string_view part = input.next(); !part.empty(); part = input.next()) {
    text += part;
    if (longest != nullptr) *longest = std::max(*longest, part.size());
  }
  return text;
}

TEST_F(InputFileTest, GivesTheContentInPartsHoweverItIsStored) {
  const std::string skipped("\x50\x2a\x4d\x18\x02\x00\x00\x00\n\n", 10);
  const std::string content(1'000'000, 'x');
  const std::filesystem::path file = scratch_.path() / "file";
  for (const auto& [stored, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},
           {"abc", "abc"},
           {content, content},
           {zstd_frame(content), content},
           {zstd_frame("a") + zstd_frame("") + skipped + zstd_frame("b"), "ab"},
       }) {
    write_file_atomically(file, stored);
    InputFile from_disk(file);
    std::size_t longest = 0;
    EXPECT_EQ(all_of(from_disk, &longest), expected);
    EXPECT_LE(longest, std::size_t{1} << 17);
    InputFile from_memory(stored, "name");
    EXPECT_EQ(all_of(from_memory), expected);
  }
}

TEST_F(InputFileTest, ReadsAPipeThatGivesLittleAtATime) {
  const std::filesystem::path fifo = scratch_.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string stored = zstd_frame("content");
  std::thread writer([&] {
    std::ofstream output(fifo);
    for (const char byte : stored) output << byte << std::flush;
  });
  InputFile input(fifo);
  EXPECT_EQ(all_of(input), "content");
  writer.join();
}

TEST_F(InputFileTest, NamesAFileThatIsCutOffOrDamaged) {
  const std::string stored = zstd_frame(std::string(100'000, 'x') + "y");
  const auto message = [](const std::string& bytes) {
    return message_of([&] {
      InputFile input(bytes, "the file");
      all_of(input);
    });
  };
  for (std::size_t size = 4; size < stored.size(); ++size) {
    expect_contains(message(stored.substr(0, size)), {"the file: is cut off"});
  }
  expect_contains(message(stored + "behind"), {"the file: cannot be decompressed"});
  for (const std::size_t size : {0U, 3U}) {
    InputFile input(std::string_view(stored).substr(0, size), "lines.zst");
    expect_contains(message_of([&] { all_of(input); }), {"lines.zst: is cut off"});
  }
}

}  // namespace
}  // namespace che
