#include "experiments/training/tensorboard.h"

#include <gtest/gtest.h>

#include <cstring>

namespace che {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// Event files of TensorFlow's own writer start with these twelve bytes: the length of the version's event and
// its masked checksum.
TEST(Tensorboard, BeginsAsTensorFlowDoes) {
  const std::string file = tensorboard_events({}, {}, 0);
  EXPECT_EQ(hex(file.substr(0, 12)), "1800000000000000a37f4b22");
  ASSERT_EQ(file.size(), 12 + 24 + 4U);
  EXPECT_EQ(hex(file.substr(12, 24)),
            "090000000000000000"
            "1a0d627261696e2e4576656e743a32");
}

TEST(Tensorboard, AddsARecordARow) {
  const std::string version = tensorboard_events({}, {}, 0);
  const std::string file =
      tensorboard_events({{.step = 300, .loss = 1.5, .accuracy = 0.5, .gradient_norm = 2, .seconds = 4}},
                         {{.length = 41, .samples = 64, .accuracy = 0.25, .loss = 1}}, 10);
  std::vector<std::string> records;
  for (std::size_t at = 0; at < file.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, file.data() + at, sizeof size);
    records.push_back(file.substr(at + 12, size));
    at += 8 + 4 + size + 4;
  }
  ASSERT_EQ(records.size(), 3U);
  // Wall time 14, step 300, then the summary.
  EXPECT_EQ(hex(records[1].substr(0, 12)),
            "09"
            "0000000000002c40"
            "10ac02");
  EXPECT_NE(records[1].find("training/gradient_norm"), std::string::npos);
  EXPECT_EQ(hex(records[2].substr(0, 11)),
            "09"
            "0000000000002c40"
            "1029");
  EXPECT_NE(hex(records[2])
                .find(hex("evaluation/accuracy") + "15"
                                                   "0000803e"),
            std::string::npos);
}

}  // namespace
}  // namespace che
