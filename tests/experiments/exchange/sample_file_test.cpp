#include "experiments/exchange/sample_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/contains.h"
#include "tests/message_of.h"

namespace che {
namespace {

const SampleHeader kParity = {.task = "parity_check", .lengths = {5, 9}, .samples = 64, .seed = 2};

std::string npz() {
  std::string text;
  write_npz_samples(kParity, [&](std::string_view part) { text += part; });
  return text;
}

// tests/python/tasks_test.py reads such a file with numpy.
TEST(SampleFormats, NpzHasTheArraysOfEveryLength) {
  const std::string text = npz();
  EXPECT_TRUE(text.starts_with("PK\x03\x04"));
  expect_contains(text, {"header.npy", "lengths.npy", "input_5.npy", "output_9.npy", "mask_9.npy",
                         "'descr': '|u1', 'fortran_order': False, 'shape': (64, 9), }", "'shape': (2,), }",
                         R"("task":"parity_check","task_version":1)"});
  EXPECT_EQ(text, npz()) << "the same samples give the same bytes";
  // Every array begins at a multiple of 64 bytes behind its own magic, as numpy's reader may ask.
  const std::size_t at = text.find("\x93NUMPY");
  ASSERT_NE(std::string::npos, at);
  const std::size_t header =
      static_cast<unsigned char>(text[at + 8]) + 256U * static_cast<unsigned char>(text[at + 9]);
  EXPECT_EQ(0U, (10 + header) % 64);
}

TEST(SampleFormats, FlareHasAStringAndALabelPerLine) {
  std::string strings;
  std::string labels;
  write_flare_samples(
      kParity, [&](std::string_view part) { strings += part; },
      [&](std::string_view part) { labels += part; });
  ASSERT_EQ(2 * 2 * 64U, labels.size());
  std::size_t line = 0;
  for (std::size_t at = 0; at < strings.size(); ++line) {
    const std::size_t end = strings.find('\n', at);
    const std::string text = strings.substr(at, end - at);
    EXPECT_EQ(line < 64 ? 9U : 17U, text.size());
    EXPECT_EQ(std::count(text.begin(), text.end(), '1') % 2 == 1 ? '1' : '0', labels[2 * line]) << text;
    at = end + 1;
  }
  EXPECT_EQ(128U, line);
}

TEST(SampleFormats, FlareTakesTasksThatAnswerWithOneBit) {
  SampleHeader header = kParity;
  header.task = "bucket_sort";
  expect_contains(message_of([&] { check_flare_samples(header); }),
                  {"bucket_sort answers with 5 of 5 symbols"});
  header.task = "cycle_navigation";
  expect_contains(message_of([&] { check_flare_samples(header); }), {"answers with 1 of 5 symbols"});
}

}  // namespace
}  // namespace che
