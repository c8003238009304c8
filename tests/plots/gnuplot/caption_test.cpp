#include "plots/gnuplot/caption.h"

#include <gtest/gtest.h>

#include "tests/contains.h"

namespace che {
namespace {

TEST(Caption, HasAsManyLinesAsItsWidthAsksFor) {
  const std::string text = "one two three four five six seven";
  EXPECT_EQ(Caption(text, 1000).height(), 34);
  const Caption narrow(text, 120);  // Ten characters a line.
  EXPECT_EQ(narrow.height(), 94);
  const std::string script = narrow.script(400);
  for (const char* line : {"'one two'", "'three four'", "'five six'", "'seven'"}) {
    EXPECT_TRUE(contains(script, line)) << script;
  }
  EXPECT_TRUE(contains(script, "'seven' at screen 0.5, screen 0.0425 center")) << script;
}

TEST(Caption, KeepsItsOwnLines) {
  const Caption caption("a b\nc", 1000);
  EXPECT_EQ(caption.height(), 54);
  EXPECT_TRUE(contains(caption.script(100), "'a b'"));
}

}  // namespace
}  // namespace che
