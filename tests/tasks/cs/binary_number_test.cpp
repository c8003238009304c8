#include "tasks/cs/binary_number.h"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace che {
namespace {

using Bits = std::vector<std::uint8_t>;

// Least significant bit first, `size` bits.
Bits bits_of(const mpz_class& number, std::size_t size) {
  Bits bits(size, 0);
  for (std::size_t i = 0; i < size; ++i) bits[i] = mpz_tstbit(number.get_mpz_t(), i) != 0;
  return bits;
}

mpz_class power_of_two(unsigned exponent) { return mpz_class(1) << exponent; }

void expect_square_root(const mpz_class& number, std::size_t size) {
  const Bits bits = bits_of(number, size);
  const Bits input(bits.rbegin(), bits.rend());
  Bits root((size + 1) / 2, 0xff);
  integer_square_root(input, Rounding::kFloor, root);
  EXPECT_EQ(Bits(root.rbegin(), root.rend()), bits_of(sqrt(number), root.size())) << number.get_str();
  Bits nearest(size / 2 + 1, 0xff);
  integer_square_root(input, Rounding::kNearest, nearest);
  // floor(x + 1/2) = floor((floor(2 x) + 1) / 2)
  const mpz_class expected = (sqrt(4 * number) + 1) / 2;
  EXPECT_EQ(Bits(nearest.rbegin(), nearest.rend()), bits_of(expected, nearest.size())) << number.get_str();
}

// Half way between two squares: r^2 + r is nearer to r^2, the next number to (r + 1)^2.
TEST(IntegerSquareRoot, RoundsToTheNearest) {
  for (unsigned exponent = 0; exponent <= 80; ++exponent) {
    const mpz_class root = power_of_two(exponent) + 1;
    for (const int distance : {0, 1}) {
      const mpz_class number = root * root + root + distance;
      expect_square_root(number, mpz_sizeinbase(number.get_mpz_t(), 2));
    }
  }
}

// Rounding to double goes wrong next to squares.
TEST(IntegerSquareRoot, IsExactAroundSquares) {
  for (unsigned exponent = 1; exponent <= 80; ++exponent) {
    for (const int offset : {-1, 0, 1}) {
      const mpz_class root = power_of_two(exponent) + offset;
      for (const int distance : {-1, 0, 1}) {
        const mpz_class number = root * root + distance;
        const std::size_t size = mpz_sizeinbase(number.get_mpz_t(), 2);
        if (number == 0) continue;
        expect_square_root(number, size);
        expect_square_root(number, size + 3);
      }
    }
  }
}

TEST(IntegerSquareRoot, TakesTheLargestNumbers) {
  for (unsigned size = 1; size <= 200; ++size) expect_square_root(power_of_two(size) - 1, size);
}

TEST(IntegerSquareRoot, TakesMoreLeadingZerosThanAWord) {
  expect_square_root(1, 200);
  expect_square_root(power_of_two(64), 129);
}

TEST(Multiply, TakesTheLargestNumbersOfEverySize) {
  for (const unsigned p : {1U, 2U, 31U, 32U, 33U, 63U, 64U, 65U, 130U}) {
    for (const unsigned q : {1U, 2U, 31U, 32U, 33U, 63U, 64U, 65U, 130U}) {
      const mpz_class first = power_of_two(p) - 1;
      const mpz_class second = power_of_two(q) - 1;
      Bits product(p + q, 0xff);
      multiply(bits_of(first, p), bits_of(second, q), product);
      EXPECT_EQ(product, bits_of(first * second, p + q)) << p << " and " << q << " bits";
    }
  }
}

TEST(TerminateNumber, KeepsOneBitOfZero) {
  Bits output = {0, 0, 0xff, 0xff};
  terminate_number(output, 2);
  EXPECT_EQ(output, (Bits{0, 2, 0, 0}));
  output = {0, 1, 0, 0xff};
  terminate_number(output, 3);
  EXPECT_EQ(output, (Bits{0, 1, 2, 0}));
}

}  // namespace
}  // namespace che
