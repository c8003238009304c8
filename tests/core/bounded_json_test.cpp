#include "core/bounded_json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/contains.h"
#include "tests/message_of.h"

namespace che {
namespace {

TEST(BoundedJson, RefusesWhatIsBeyondItsLimitsOrGivenTwice) {
  struct Case {
    std::string text;
    std::string message;
  };
  const JsonLimits limits{.depth = 3, .bytes = 100, .values = 10};
  const std::vector<Case> cases = {
      {R"({"a": [[1, 2], {}], "b": "x"})", "(no error)"},
      {R"({"a": {"b": 1}, "b": {"b": 2}, "c": "a"})", "(no error)"},
      {std::string(100, ' ') + "1", "has more than 100 bytes"},
      {"[1,2,3,4,5,6,7,8,9]", "(no error)"},
      {"[1,2,3,4,5,6,7,8,9,10]", "has more than 10 values"},
      {"[[],[],[],[],[],[],[],[],[],[]]", "has more than 10 values"},
      {"[{},{},{},{},{},{},{},{},{},{}]", "has more than 10 values"},
      {R"([[["[[[{{{"]]])", "(no error)"},
      {"[[[[]]]]", "nested more than 3 deep"},
      {R"([[{"a": {}}]])", "nested more than 3 deep"},
      {std::string(90, '['), "nested more than 3 deep"},
      {R"({"a": 1, "b": 2, "a": 1})", "an object has the key 'a' twice; allowed: each key once"},
      {R"([{"b": {"a": 1, "\u0061": 2}}])", "an object has the key 'a' twice"},
      {R"({"\n": 1, "\n": 2})", "an object has the key ' ' twice"},
      {"[1, 2", "not JSON: it ends before its last value is complete"},
  };
  for (const Case& one : cases) {
    expect_contains(message_of([&] { parse_bounded_json(one.text, limits); }), {one.message});
  }
}

// The rest of a text beyond its limits is not looked at.
// In quadratic time this would take hours.
TEST(BoundedJson, ReadsAMillionObjectsInOneArray) {
  constexpr std::size_t kObjects = 1'000'000;
  std::string text = "[{}";
  for (std::size_t i = 1; i < kObjects; ++i) text += ",{}";
  text += ']';
  const JsonLimits limits{.depth = 2, .bytes = text.size(), .values = kObjects + 1};
  EXPECT_EQ(kObjects, parse_bounded_json(text, limits).size());
}

TEST(BoundedJson, StopsAtTheFirstValueTooMany) {
  const JsonLimits limits{.depth = 1, .bytes = 100, .values = 3};
  expect_contains(message_of([&] { parse_bounded_json("[1,2,3,#", limits); }), {"has more than 3 values"});
}

}  // namespace
}  // namespace che
