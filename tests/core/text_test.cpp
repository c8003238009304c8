#include "core/text.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(OneLine, LeavesTextAsItIs) {
  EXPECT_EQ(one_line(""), "");
  EXPECT_EQ(one_line("caf\u00e9 \u20ac, x = \\ \U0001F600"), "caf\u00e9 \u20ac, x = \\ \U0001F600");
}

TEST(OneLine, WritesControlCharactersAsEscapes) {
  EXPECT_EQ(one_line("red \x1b[31m, bell \x07, delete \x7f"), "red \\x1b[31m, bell \\x07, delete \\x7f");
  EXPECT_EQ(one_line("\u009b31m"), "\\x9b31m") << "a control sequence of eight-bit terminals";
  EXPECT_EQ(one_line("abc\u202etxt.exe\u2066"), "abc\\u202etxt.exe\\u2066");
  EXPECT_EQ(one_line(std::string_view("nul\0end", 7)), "nul\\x00end");
}

TEST(OneLine, WritesBytesThatAreNoUtf8AsEscapes) {
  EXPECT_EQ(one_line("\xff\xc3(\xe2\x82"), "\\xff\\xc3(\\xe2\\x82");
  EXPECT_EQ(one_line("\xc0\xaf"), "\\xc0\\xaf") << "an overlong slash";
}

TEST(OneLine, BreaksBecomeSpaces) { EXPECT_EQ(one_line("a\nb\r\nc\td\u2028e"), "a b  c d e"); }

TEST(OneLine, AppliedTwiceChangesNothingMore) {
  const std::string once = one_line("\x1b]0;title\x07\xff\n");
  EXPECT_EQ(one_line(once), once);
}

TEST(OneLine, CutsLongText) {
  EXPECT_EQ(one_line("abcdef", 3), "abc...");
  EXPECT_EQ(one_line(std::string(200, 'x')), std::string(80, 'x') + "...");
  EXPECT_EQ(one_line(std::string(200, 'x'), kWholeText), std::string(200, 'x'));
  EXPECT_EQ(one_line("\u00e9\u00e9\u00e9", 3), "\u00e9\u00e9...") << "no character is cut in two";
}

TEST(CharacterCount, CountsCharacters) { EXPECT_EQ(character_count("caf\u00e9 \u20ac"), 6U); }

TEST(ShellWord, IsQuotedOnlyWhereAShellWouldReadItOtherwise) {
  EXPECT_EQ(shell_word("results/small-2"), "results/small-2");
  EXPECT_EQ(shell_word("my results"), "'my results'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(quoted_shell_word("results"), "'results'");
}

}  // namespace
}  // namespace che
