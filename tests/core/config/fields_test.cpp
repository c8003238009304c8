#include "core/config/fields.h"

#include <gtest/gtest.h>

#include "core/config/field_list.h"
#include "core/config/node.h"
#include "core/config/reader.h"
#include "core/config/writer.h"
#include "tests/message_of.h"

namespace che {
namespace {

struct Options {
  std::int64_t width = 3;
  double rate = 0.5;
  std::string side = "left";

  void visit_fields(FieldVisitor& visit) {
    visit.integer({"width", ""}, width, 1, 10);
    visit.real({"rate", ""}, rate, 0, 1);
    visit.choice({"side", ""}, side, {"left", "right"});
  }
};

TEST(Fields, OptionsSurviveTheirText) {
  Options options{.width = 7, .rate = 1.0 / 3.0, .side = "right"};
  const OptionValues values = dump_options([&](FieldVisitor& visitor) { options.visit_fields(visitor); });
  EXPECT_EQ(values, (OptionValues{{"rate", "0.3333333333333333"}, {"side", "right"}, {"width", "7"}}));
  const auto read = options_from<Options>(values);
  EXPECT_EQ(read.width, 7);
  EXPECT_EQ(read.rate, 1.0 / 3.0);
  EXPECT_EQ(read.side, "right");
}

TEST(Fields, AbsentOptionsKeepTheirDefaults) {
  const auto read = options_from<Options>({{"side", "right"}});
  EXPECT_EQ(read.width, 3);
  EXPECT_EQ(read.rate, 0.5);
  EXPECT_EQ(read.side, "right");
}

TEST(Fields, BadOptionsAreErrors) {
  EXPECT_EQ(message_of([] {
              options_from<Options>({{"widht", "1"}});
            }),
            "widht: unknown key; did you mean 'width'?; known: width, rate, side");
  EXPECT_EQ(message_of([] {
              options_from<Options>({{"width", "11"}});
            }),
            "width: got 11; allowed: whole numbers from 1 to 10");
  EXPECT_EQ(message_of([] {
              options_from<Options>({{"side", "up"}});
            }),
            "side: got up; allowed: left, right");
}

struct Places {
  std::vector<std::int64_t> places = {};
  std::int64_t count = 3;

  void visit_fields(FieldVisitor& visit) {
    visit.integer_list({"places", ""}, places, 0, 9);
    visit.integer({.name = "count", .help = "", .zero_word = "auto"}, count, 1, 5);
  }
};

Places places_in(const std::string& yaml) {
  Places read;
  assign_fields(parse_config(yaml, "x.yaml"), fields_of(read));
  return read;
}

TEST(Fields, HaveListsThatMayBeAbsentAndAWordForZero) {
  Places defaults;
  EXPECT_EQ("count: 3\n", write_fields(fields_of(defaults)));
  EXPECT_EQ(std::vector<std::string>{"places"}, list_valued_fields(fields_of(defaults)));
  Places read = places_in("places: [2, 0]\ncount: auto\n");
  EXPECT_EQ((std::vector<std::int64_t>{2, 0}), read.places);
  EXPECT_EQ(0, read.count);
  EXPECT_EQ("places: [2, 0]\ncount: auto\n", write_fields(fields_of(read)));
  EXPECT_TRUE(places_in("places: []\n").places.empty());
  EXPECT_EQ(4, places_in("count: 4\n").count);
}

TEST(Fields, RefuseListsAndWordsThatAreNone) {
  const auto message = [](const std::string& yaml) { return message_of([&] { places_in(yaml); }); };
  EXPECT_EQ("x.yaml:1: places: got 3; allowed: a list of whole numbers from 0 to 9", message("places: 3\n"));
  EXPECT_EQ("x.yaml:1: places: got 10; allowed: a list of whole numbers from 0 to 9",
            message("places: [1, 10]\n"));
  EXPECT_EQ("x.yaml:1: places: 1 is listed twice; keep one of them", message("places: [1, 0, 1]\n"));
  EXPECT_EQ("x.yaml:1: count: got 0; allowed: auto, whole numbers from 1 to 5", message("count: 0\n"));
  EXPECT_EQ("x.yaml:1: count: got all; allowed: auto, whole numbers from 1 to 5", message("count: all\n"));
}

struct Widen : FieldVisitor {
  void integer(const Field&, std::int64_t& value, std::int64_t, std::int64_t) override { ++value; }
  void real(const Field&, double&, double, double) override {}
  void choice(const Field&, std::string&, const std::vector<std::string>&) override {}
  void boolean(const Field&, bool&) override {}
  void text(const Field&, std::string&, const Accept&) override {}
  void integer_list(const Field&, std::vector<std::int64_t>&, std::int64_t, std::int64_t) override {}
  void group(const Field&, const Members&) override {}
  void optional_group(const Field&, bool&, const Members&) override {}
  void component(const Field&, const std::function<void(std::string_view)>&, const Members&) override {}
  void role(Role) override {}
};

TEST(Fields, AVisitorChangesOptionsThroughTheirText) {
  OptionValues values = {{"width", "8"}};
  Widen widen;
  visit_options<Options>(values, widen);
  EXPECT_EQ(values.at("width"), "9");
  EXPECT_EQ(values.size(), 3U);
}

}  // namespace
}  // namespace che
