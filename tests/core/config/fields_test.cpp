#include "core/config/fields.h"

#include <gtest/gtest.h>

#include "core/config/field_list.h"
#include "core/config/node.h"
#include "core/config/reader.h"
#include "tests/message_of.h"

namespace che {
namespace {

enum class Side : std::uint8_t { kLeft, kRight };

struct Options {
  std::int64_t width = 3;
  double rate = 0.5;
  Side side = Side::kLeft;

  void visit_fields(FieldVisitor& visit) {
    visit.integer({"width", ""}, width, 1, 10);
    visit.real({"rate", ""}, rate, 0, 1);
    visit.choice({"side", ""}, side, {"left", "right"});
  }
};

struct Places {
  std::vector<std::int64_t> places = {};
  std::int64_t count = 3;

  void visit_fields(FieldVisitor& visit) {
    visit.integer_list({"places", ""}, places, 0, 9);
    visit.integer({.name = "count", .help = "", .zero_word = "auto"}, count, 1, 5);
  }
};

TEST(Fields, OptionsSurviveTheirText) {
  const AnyOptions options = Options{.width = 7, .rate = 1.0 / 3.0, .side = Side::kRight};
  const OptionValues values = options.values();
  EXPECT_EQ(values, (OptionValues{{"rate", "0.3333333333333333"}, {"side", "right"}, {"width", "7"}}));
  const AnyOptions read = AnyOptions(Options()).with(values);
  EXPECT_EQ(read.as<Options>().width, 7);
  EXPECT_EQ(read.as<Options>().rate, 1.0 / 3.0);
  EXPECT_EQ(read.as<Options>().side, Side::kRight);
}

TEST(Fields, AbsentOptionsKeepTheirValues) {
  const AnyOptions read = AnyOptions(Options{.width = 4}).with({{"side", "right"}});
  EXPECT_EQ(read.as<Options>().width, 4);
  EXPECT_EQ(read.as<Options>().rate, 0.5);
  EXPECT_EQ(read.as<Options>().side, Side::kRight);
}

TEST(Fields, BadOptionsAreErrors) {
  const auto message = [](const OptionValues& values) {
    return message_of([&] { AnyOptions(Options()).with(values); });
  };
  EXPECT_EQ(message({{"widht", "1"}}), "widht: unknown key; did you mean 'width'?; known: width, rate, side");
  EXPECT_EQ(message({{"width", "11"}}), "width: got 11; allowed: whole numbers from 1 to 10");
  EXPECT_EQ(message({{"side", "up"}}), "side: got up; allowed: left, right");
}

TEST(Fields, EmptyOptionsStandForTheDefaultsOfTheirEntry) {
  const AnyOptions defaults = Options{.width = 5};
  EXPECT_TRUE(AnyOptions().values().empty());
  EXPECT_EQ(AnyOptions().or_defaults(defaults).as<Options>().width, 5);
  EXPECT_EQ(AnyOptions(Places()).or_defaults(defaults).as<Options>().width, 5) << "options of another entry";
  EXPECT_EQ(AnyOptions(Options{.width = 6}).or_defaults(defaults).as<Options>().width, 6);
}

TEST(Fields, ACopyOfOptionsIsOfItsOwn) {
  AnyOptions options = Options();
  const AnyOptions copy = options;
  options.as<Options>().width = 9;
  EXPECT_EQ(copy.as<Options>().width, 3);
}

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

}  // namespace
}  // namespace che
