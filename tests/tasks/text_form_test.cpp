#include <gtest/gtest.h>

#include "tasks/symbols.h"

namespace che {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(TextForm, IsWrittenInTheCharactersOfTheTask) {
  EXPECT_EQ(text_form(*create_task("bucket_sort"), Bytes{4, 2, 3, 0, 4, 0}, Bytes{0, 0, 2, 3, 4, 4},
                      Bytes{1, 1, 1, 1, 1, 1}),
            "423040 -> 002344");
}

TEST(TextForm, EndsAtTheTerminator) {
  EXPECT_EQ(text_form(*create_task("binary_addition"), Bytes{1, 2, 0, 1}, Bytes{1, 1, 2, 0, 0},
                      Bytes{1, 1, 1, 0, 0}),
            "1+01 -> 11.");
}

TEST(TextForm, TakesARowOfABatch) {
  const Batch batch{.length = 2,
                    .size = 2,
                    .input_length = 2,
                    .output_length = 2,
                    .input = {0, 0, 0, 1},
                    .output = {0, 0, 1, 0},
                    .mask = {1, 1, 1, 1}};
  const auto task = create_task("reverse_string");
  EXPECT_EQ(text_form(*task, batch, 0), "aa -> aa");
  EXPECT_EQ(text_form(*task, batch, 1), "ab -> ba");
}

}  // namespace
}  // namespace che
