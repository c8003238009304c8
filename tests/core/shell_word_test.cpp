#include <gtest/gtest.h>

#include "core/text.h"

namespace che {
namespace {

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
