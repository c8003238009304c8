#include "core/config/field_list.h"

#include <gtest/gtest.h>

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
    visit.role(Role::kReplica);
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
  EXPECT_EQ(records[0].role, Role::kReplica);
  EXPECT_TRUE(records[0].structural);
  EXPECT_EQ(records[1].path, "encoding.size");
  EXPECT_EQ(records[1].value, "4");
  EXPECT_EQ(records[1].allowed, "whole numbers from 1 to 9");
  EXPECT_EQ(records[1].role, Role::kExecution);
  EXPECT_FALSE(records[1].structural);
  EXPECT_EQ(records[2].path, "rate");
  EXPECT_EQ(records[2].role, Role::kReplica) << "a role set inside a group ends with it";
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

}  // namespace
}  // namespace che
