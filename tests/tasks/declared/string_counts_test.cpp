#include "tasks/declared/string_counts.h"

#include <gmp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "tests/tasks/declared/small_definition.h"

namespace che {
namespace {

TEST(ScaledNumber, HasTheValueOfLdexp) {
  for (const double mantissa : {0.5, 0.7, std::nextafter(1.0, 0.0)}) {
    for (const int shift : {1, 0, -1, -52, -999, -1000, -1022, -1074, -1100}) {
      const ScaledNumber number{.mantissa = mantissa, .exponent = 5000 + shift};
      EXPECT_EQ(number.scaled(5000), std::ldexp(mantissa, shift)) << mantissa << " " << shift;
    }
    EXPECT_EQ((ScaledNumber{mantissa, -1101}.scaled(0)), 0);
  }
  EXPECT_EQ((ScaledNumber{}.scaled(7)), 0);
}

// The exact number of accepted strings of a length.
class ExactCount {
 public:
  ExactCount(const FiniteAutomaton& automaton, std::size_t length) {
    std::vector<__mpz_struct> ways(automaton.states());
    std::vector<__mpz_struct> after(automaton.states());
    for (std::size_t state = 0; state < ways.size(); ++state) {
      mpz_init_set_ui(&after[state], automaton.accepting[state]);
      mpz_init(&ways[state]);
    }
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t state = 0; state < ways.size(); ++state) {
        mpz_set_ui(&ways[state], 0);
        for (std::size_t symbol = 0; symbol < automaton.symbols.size(); ++symbol) {
          const auto target =
              static_cast<std::size_t>(automaton.step(static_cast<std::int32_t>(state), symbol));
          mpz_add(&ways[state], &ways[state], &after[target]);
        }
      }
      std::swap(ways, after);
    }
    long power = 0;
    mantissa = mpz_get_d_2exp(&power, &after[static_cast<std::size_t>(automaton.start)]);
    exponent = power;
    for (std::size_t state = 0; state < ways.size(); ++state) {
      mpz_clear(&after[state]);
      mpz_clear(&ways[state]);
    }
  }

  double mantissa = 0;
  std::int64_t exponent = 0;
};

TEST(StringCounts, AreExactIntegersUpToRounding) {
  const TaskDefinition definition = small_definition(kNoThree);
  const StringCounts counts(definition.automaton, true);
  for (const std::int64_t length : {1, 2, 3, 10, 50, 500, 1'100, 10'000}) {
    const ExactCount exact(definition.automaton, static_cast<std::size_t>(length));
    const ScaledNumber count = counts.count(length);
    EXPECT_EQ(count.exponent, exact.exponent) << length;
    EXPECT_TRUE(std::abs(count.mantissa / exact.mantissa - 1) < 1e-11) << length;
  }
}

TEST(StringCounts, HoldWhereOtherStatesHaveManyMoreStrings) {
  // Even lengths: only a^n is accepted. Odd lengths: everything. States: parity, and whether a b was seen.
  const TaskDefinition definition =
      small_definition("0 1 a\n0 3 b\n1 0 a\n1 2 b\n2 3 a\n2 3 b\n3 2 a\n3 2 b\n0\n1\n3\n");
  const StringCounts counts(definition.automaton, true);
  const ScaledNumber count = counts.count(4'000);
  EXPECT_EQ(std::ldexp(count.mantissa, static_cast<int>(count.exponent)), 1);
  std::vector<std::uint8_t> input(4'000, 9);
  RandomStream random(1, Purpose::kData);
  counts.draw(random, input);
  EXPECT_EQ(std::ranges::count(input, 0), 4'000) << "the only accepted string";
  EXPECT_EQ(counts.count(4'001).exponent, 4'002) << "2^4001 is 0.5 * 2^4002";
}

TEST(StringCounts, CountNothingWhereThereIsNothing) {
  const TaskDefinition definition = small_definition("0 1 a\n1 0 b\n0\n");
  const StringCounts accepted(definition.automaton, true);
  const StringCounts rejected(definition.automaton, false);
  EXPECT_TRUE(accepted.count(7).is_zero());
  EXPECT_FALSE(accepted.count(8).is_zero());
  EXPECT_FALSE(rejected.count(7).is_zero());
}

TEST(StringCounts, DrawUniformly) {
  const TaskDefinition definition = small_definition(kNoThree);
  for (const bool accepted : {true, false}) {
    const StringCounts counts(definition.automaton, accepted);
    constexpr std::size_t kLength = 6;
    constexpr int kDraws = 60'000;
    std::map<std::string, int> drawn;
    for (int i = 0; i < kDraws; ++i) {
      RandomStream random(3, Purpose::kData, 0, static_cast<std::uint64_t>(i));
      std::vector<std::uint8_t> input(kLength);
      counts.draw(random, input);
      std::string text;
      for (const std::uint8_t symbol : input) text += static_cast<char>('a' + symbol);
      EXPECT_EQ(text.find("aaa") == std::string::npos, accepted) << text;
      ++drawn[text];
    }
    const std::size_t strings = accepted ? 44 : 20;  // Tribonacci: 44 of 64 have no aaa.
    ASSERT_EQ(drawn.size(), strings);
    const double expected = static_cast<double>(kDraws) / static_cast<double>(strings);
    double chi_square = 0;
    for (const auto& [text, count] : drawn) chi_square += (count - expected) * (count - expected) / expected;
    // Mean: strings - 1; this bound is more than six standard deviations above it.
    const double degrees = static_cast<double>(strings - 1);
    EXPECT_LT(chi_square, degrees + 6 * std::sqrt(2 * degrees)) << accepted;
  }
}

}  // namespace
}  // namespace che
