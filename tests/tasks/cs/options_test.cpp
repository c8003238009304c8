// Tests how options change what tasks draw.
#include <gmpxx.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tasks/every_task.h"

namespace che {
namespace {

// The symbols of a row as text, up to the terminator where there is one.
std::string text_of(const Symbols& symbols, std::string_view alphabet) {
  std::string text;
  for (const auto symbol : symbols) {
    const char character = alphabet[static_cast<std::size_t>(symbol)];
    if (character == '.') break;
    text += character;
  }
  return text;
}

// Numbers are read as written, most significant bit first, by another implementation.
template <class Combine>
void expect_most_significant_first(const char* name, char sign, const Combine& combine) {
  const auto task = create_task(name, {{"bit_order", "most_first"}});
  const auto released = create_task(name);
  for (const std::int64_t length : {3, 4, 9, 40, 90}) {
    const Batch batch = batch_of(*task, BatchKey{.seed = 1}, length, 50);
    const Batch reversed = batch_of(*released, BatchKey{.seed = 1}, length, 50);
    EXPECT_EQ(batch.mask, reversed.mask);
    for (std::int64_t row = 0; row < batch.size; ++row) {
      const std::string input = text_of(row_of(batch.input, batch.input_length, row), task->input_symbols());
      const std::size_t middle = input.find(sign);
      ASSERT_NE(std::string::npos, middle);
      const mpz_class expected =
          combine(mpz_class(input.substr(0, middle), 2), mpz_class(input.substr(middle + 1), 2));
      EXPECT_EQ(expected.get_str(2),
                text_of(row_of(batch.output, batch.output_length, row), task->output_symbols()))
          << input;
    }
  }
}

TEST(BitOrder, MostSignificantBitFirstReadsAsNumbersAreWritten) {
  expect_most_significant_first("binary_addition", '+',
                                [](const mpz_class& a, const mpz_class& b) { return mpz_class(a + b); });
  expect_most_significant_first("binary_multiplication", '*',
                                [](const mpz_class& a, const mpz_class& b) { return mpz_class(a * b); });
}

TEST(Rounding, TheNearestRootHasABitMoreWhereTheLengthIsEven) {
  const auto floor = create_task("compute_sqrt");
  const auto nearest = create_task("compute_sqrt", {{"rounding", "nearest"}});
  for (const std::int64_t length : {1, 2, 3, 6, 7, 40, 129}) {
    const Batch down = batch_of(*floor, BatchKey{.seed = 1}, length, 50);
    const Batch near = batch_of(*nearest, BatchKey{.seed = 1}, length, 50);
    ASSERT_EQ(down.input, near.input);
    ASSERT_EQ(length / 2 + 1, near.output_length);
    bool differs = false;
    for (std::int64_t row = 0; row < near.size; ++row) {
      const auto number = [&](const std::vector<std::uint8_t>& symbols, std::int64_t size) {
        return mpz_class(text_of(row_of(symbols, size, row), "01"), 2);
      };
      const mpz_class root = number(near.output, near.output_length);
      const mpz_class expected = (sqrt(4 * number(near.input, length)) + 1) / 2;
      EXPECT_EQ(expected.get_str(2), root.get_str(2));
      differs |= root != number(down.output, down.output_length);
    }
    EXPECT_EQ(differs, length > 1) << length;
  }
}

TEST(OddsFirst, PutsTheFirstThirdAndSoOnFirstWhenAsked) {
  const auto as_released = create_task("odds_first", {{"order", "even_first"}});
  const auto as_described = create_task("odds_first", {{"order", "odd_first"}});
  for (const std::int64_t length : {1, 2, 3, 6, 7, 40}) {
    const Batch even = batch_of(*as_released, BatchKey{.seed = 1}, length, 50);
    const Batch odd = batch_of(*as_described, BatchKey{.seed = 1}, length, 50);
    ASSERT_EQ(even.input, odd.input);
    EXPECT_EQ(even.output, batch_of(*create_task("odds_first"), BatchKey{.seed = 1}, length, 50).output);
    for (std::int64_t row = 0; row < odd.size; ++row) {
      const Symbols input = row_of(odd.input, length, row);
      Symbols expected;
      for (std::size_t i = 0; i < input.size(); i += 2) expected.push_back(input[i]);
      for (std::size_t i = 1; i < input.size(); i += 2) expected.push_back(input[i]);
      EXPECT_EQ(row_of(odd.output, length, row), expected);
    }
  }
}

}  // namespace
}  // namespace che
