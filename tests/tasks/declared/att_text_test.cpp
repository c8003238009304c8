#include <gtest/gtest.h>

#include <memory>

#include "core/error.h"
#include "tasks/declared/finite_automaton.h"

namespace che {
namespace {

FiniteAutomaton parse(std::string_view text, std::string_view outputs = "") {
  return parse_att_text(text, {std::make_shared<const std::string>("x.att"), 1, 0}, "ab", outputs);
}

TEST(AttText, ReadsTransitionsAndFinalStates) {
  const FiniteAutomaton automaton = parse("4 7 a\n4\t4\tb\n7 4 a a\n7 7 b b 0.000000\n7 0\n");
  EXPECT_EQ(automaton.numbers, (std::vector<std::int64_t>{4, 7}));
  EXPECT_EQ(automaton.start, 0);
  EXPECT_FALSE(automaton.sink);
  EXPECT_EQ(automaton.next, (std::vector<std::int32_t>{1, 0, 0, 1}));
  EXPECT_EQ(automaton.accepting, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_TRUE(automaton.output.empty());
}

TEST(AttText, StartsAtTheSourceOfTheFirstLine) {
  EXPECT_EQ(parse("3 1 a\n1 3 a\n1 1 b\n3 3 b\n1\n").start, 1) << "state 3 is the second by number";
  EXPECT_EQ(parse("2\n2 1 a\n").start, 1);
}

TEST(AttText, LeadsMissingTransitionsToARejectingSink) {
  const FiniteAutomaton automaton = parse("0 0 a\n0\n");
  ASSERT_TRUE(automaton.sink);
  EXPECT_EQ(*automaton.sink, 1);
  EXPECT_EQ(automaton.next, (std::vector<std::int32_t>{0, 1, 1, 1}));
  EXPECT_EQ(automaton.accepting, (std::vector<std::uint8_t>{1, 0}));
}

TEST(AttText, ReadsTheOutputsOfTransducers) {
  const FiniteAutomaton automaton = parse("0 0 a x\n0 0 b y\n", "xy");
  EXPECT_EQ(automaton.output, (std::vector<std::uint8_t>{0, 1}));
}

TEST(AttText, IsWrittenInOneWayWhateverTheOrderOfLines) {
  const std::string text = att_text(parse("2 0 b\n0 2 a\n2 2 a\n0\n"), "");
  EXPECT_EQ(text, "2 2 a\n2 0 b\n0 2 a\n0\n") << "the start comes first";
  EXPECT_EQ(att_text(parse("2 2 a\n0\n0 2 a\n\n2   0  b\r\n"), ""), text);
  EXPECT_EQ(att_text(parse(text), ""), text);
  EXPECT_EQ(att_text(parse("1\n2 1 a\n2\n"), ""), "1\n2 1 a\n2\n") << "a start without transitions";
  EXPECT_EQ(att_text(parse("0 0 a y\n", "xy"), "xy"), "0 0 a y\n");
}

TEST(AttText, TellsStatesThatNoInputReaches) {
  const FiniteAutomaton automaton = parse("0 0 a\n0 0 b\n1 0 a\n1 0 b\n0\n");
  EXPECT_EQ(automaton.reachable(), (std::vector<std::uint8_t>{1, 0}));
}

TEST(AttText, RefusesAutomataThatAreTooLarge) {
  std::string text;
  for (std::size_t state = 0; state <= kMaxStates; ++state) {
    text += std::to_string(state) + " " + std::to_string(state + 1) + " a\n";
  }
  EXPECT_THROW(parse(text), Error);
}

}  // namespace
}  // namespace che
