// Tests how fields are listed and written, and texts that may be absent or have several lines.
#include "core/config/field_list.h"

#include <gtest/gtest.h>

#include "core/config/reader.h"
#include "tests/contains.h"
#include "tests/message_of.h"

namespace che {
namespace {

TEST(FieldList, ListsNestedFieldsWithTheirRoles) {
  std::int64_t size = 4;
  double rate = 0.25;
  std::string name = "kerple";
  std::string other_name = "x";
  bool present = true;
  bool absent = false;
  const auto records = describe_fields([&](FieldVisitor& visit) {
    visit.role(Role::kRepetition);
    visit.component(
        {"encoding", ""}, [](std::string_view) {},
        [&](FieldVisitor& inner) {
          inner.choice({.name = "name", .help = "which", .structural = true}, name, {"alibi", "kerple"});
          inner.role(Role::kExecution);
          inner.integer({"size", "of it"}, size, 1, 9);
        });
    visit.real({"rate", ""}, rate, 0, 1);
    visit.choice({"name", ""}, other_name, {"x"});
    visit.optional_group({"there", ""}, present, [&](FieldVisitor& inner) {
      inner.integer({"size", ""}, size, 1, 9);
    });
    visit.optional_group({"away", ""}, absent, [&](FieldVisitor& inner) {
      inner.integer({"size", ""}, size, 1, 9);
    });
  });
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[0].path, "encoding.name");
  EXPECT_EQ(records[0].value, "kerple");
  EXPECT_EQ(records[0].allowed, "alibi, kerple");
  EXPECT_EQ(records[0].help, "which");
  EXPECT_EQ(records[0].role, Role::kRepetition);
  EXPECT_TRUE(records[0].structural);
  EXPECT_EQ(records[1].path, "encoding.size");
  EXPECT_EQ(records[1].value, "4");
  EXPECT_EQ(records[1].allowed, "whole numbers from 1 to 9");
  EXPECT_EQ(records[1].role, Role::kExecution);
  EXPECT_FALSE(records[1].structural);
  EXPECT_EQ(records[2].path, "rate");
  EXPECT_EQ(records[2].role, Role::kRepetition) << "a role set inside a group ends with it";
  EXPECT_FALSE(records[3].structural) << "only a component's name decides which fields exist";
  EXPECT_EQ(records[4].path, "there");
  EXPECT_TRUE(records[4].structural);
  EXPECT_TRUE(records[4].group);
  EXPECT_EQ(records[5].path, "there.size");
}

TEST(FieldList, AFieldMayHaveAnotherNameInIdentities) {
  std::int64_t size = 4, count = 2;
  const auto records = list_fields([&](FieldVisitor& visit) {
    visit.group({"shape", ""}, [&](FieldVisitor& inner) {
      inner.integer({.name = "size", .help = "", .hashed_name = "shape_size"}, size, 1, 9);
      inner.integer({"count", ""}, count, 1, 9);
    });
  });
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].path, "shape.size");
  EXPECT_EQ(records[0].hashed_path, "shape.shape_size");
  EXPECT_EQ(records[1].hashed_path, "shape.count");
}

struct Sample {
  std::int64_t count = 1;
  double rate = 0.1;
  std::string mode = "off";
  bool present = true;
  std::string odd = "x: \"y\" \\";

  void visit_fields(FieldVisitor& visit) {
    visit.integer({"count", ""}, count, -10, 10);
    visit.group({"outer", ""}, [this](FieldVisitor& outer) {
      outer.group({"first", ""}, [this](FieldVisitor& inner) { inner.real({"rate", ""}, rate, 0, 1); });
      outer.optional_group({"second", ""}, present, [this](FieldVisitor& inner) {
        inner.choice({"mode", ""}, mode, {"off", "mode_2", "3"});
      });
    });
    visit.group({"outermost", ""}, [this](FieldVisitor& inner) {
      inner.choice({"odd", ""}, odd, {"x: \"y\" \\", "z"});
    });
  }
};

std::string write(Sample sample) {
  return write_fields([&](FieldVisitor& visitor) { sample.visit_fields(visitor); });
}

TEST(ConfigWriter, WritesBlocksAndQuotesWhatOthersMisread) {
  EXPECT_EQ(write({}), R"(count: 1
outer:
  first:
    rate: 0.1
  second:
    mode: "off"
outermost:
  odd: "x: \"y\" \\"
)");
  expect_contains(write({.mode = "mode_2"}), {"mode: mode_2\n"});
  expect_contains(write({.mode = "3"}), {"mode: \"3\"\n"});
  EXPECT_FALSE(contains(write({.present = false}), "second"));
}

TEST(ConfigWriter, IsReadBackExactly) {
  const Sample written{.count = -7, .rate = 1.0 / 3.0, .mode = "3", .present = true};
  Sample read{.count = 2, .rate = 0.9, .mode = "off", .present = false, .odd = "z"};
  assign_fields(parse_config(write(written), "x.yaml"),
                [&](FieldVisitor& visitor) { read.visit_fields(visitor); });
  EXPECT_EQ(read.count, written.count);
  EXPECT_EQ(read.rate, written.rate);
  EXPECT_EQ(read.mode, written.mode);
  EXPECT_TRUE(read.present);
  EXPECT_EQ(read.odd, written.odd);
}

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
