#include <gtest/gtest.h>

#include "core/config/field_list.h"
#include "core/config/reader.h"

namespace che {
namespace {

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
  EXPECT_NE(write({.mode = "mode_2"}).find("mode: mode_2\n"), std::string::npos);
  EXPECT_NE(write({.mode = "3"}).find("mode: \"3\"\n"), std::string::npos);
  EXPECT_EQ(write({.present = false}).find("second"), std::string::npos);
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

}  // namespace
}  // namespace che
