// Texts that may be absent and may have several lines: how they are read, listed and written.
#include <gtest/gtest.h>

#include "core/config/field_list.h"
#include "core/config/reader.h"
#include "tests/message_of.h"

namespace che {
namespace {

struct Notes {
  std::string notes = {};
  std::int64_t count = 1;

  void visit_fields(FieldVisitor& visit) {
    visit.group({"outer", ""}, [this](FieldVisitor& outer) {
      outer.text({"notes", ""}, notes, [](std::string_view text) {
        if (text.starts_with("bad")) throw Error("starts with bad");
        return std::string(1, '<').append(text);
      });
      outer.integer({"count", ""}, count, 0, 9);
    });
  }
};

std::string write_notes(Notes sample) {
  return write_fields([&](FieldVisitor& visitor) { sample.visit_fields(visitor); });
}

Notes read(std::string_view yaml) {
  Notes sample;
  assign_fields(parse_config(yaml, "x.yaml"), [&](FieldVisitor& visitor) { sample.visit_fields(visitor); });
  return sample;
}

TEST(TextField, IsSetToWhatIsAccepted) {
  EXPECT_EQ(read("outer: {notes: a b}").notes, "<a b");
  EXPECT_EQ(read("outer: {count: 2}").notes, "");
}

TEST(TextField, IsRefusedWithItsPlace) {
  EXPECT_EQ(message_of([] { read("outer:\n  notes: bad one"); }), "x.yaml:2: outer.notes: starts with bad");
  EXPECT_EQ(message_of([] { read("outer: {notes: [a]}"); }),
            "x.yaml:1: outer.notes: got [a]; allowed: a text that is not empty");
  EXPECT_EQ(message_of([] { read("outer: {notes: ''}"); }),
            "x.yaml:1: outer.notes: got \"\"; allowed: a text that is not empty");
  EXPECT_EQ(message_of([] { read("outer: {conut: 1}"); }),
            "x.yaml:1: outer.conut: unknown key; did you mean 'count'?; known: count");
}

TEST(TextField, IsListedWhereItIsThere) {
  const auto list = [](Notes sample) {
    return list_fields([&](FieldVisitor& visitor) { sample.visit_fields(visitor); });
  };
  EXPECT_EQ(list({}).size(), 1U);
  const std::vector<FieldRecord> records = list({.notes = "a\nb\n"});
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].path, "outer.notes");
  EXPECT_EQ(records[0].value, "a\nb\n");
  EXPECT_TRUE(records[0].structural);
}

TEST(TextField, IsWrittenAsABlockThatReadsBack) {
  EXPECT_EQ(write_notes({}), "outer:\n  count: 1\n");
  EXPECT_EQ(write_notes({.notes = "one line"}), "outer:\n  notes: \"one line\"\n  count: 1\n");
  EXPECT_EQ(write_notes({.notes = "a: 'x'\n  # b\nc\n"}),
            "outer:\n  notes: |\n    a: 'x'\n      # b\n    c\n  count: 1\n");
  for (const std::string text : {"a\n", "a\nb", "a: \"x\"\\\n  b # c\n"}) {
    EXPECT_EQ(read(write_notes({.notes = text})).notes, "<" + text);
  }
}

}  // namespace
}  // namespace che
