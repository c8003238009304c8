#include "core/config/reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/message_of.h"

namespace che {
namespace {

// Has one field of each kind.
struct Sample {
  std::string animal = "cat";
  std::int64_t legs = 4;
  bool has_collar = false;
  std::int64_t bell = 1;
  std::int64_t count = 10;
  double rate = 0.5;
  std::string color = "black";
  bool loud = false;
  std::int64_t size = 2;
  std::vector<std::int64_t> list = {};

  void visit_animal(FieldVisitor& visit) {
    visit.choice({"name", ""}, animal, {"cat", "horse", "spider"});
    // Its fields depend on its name, as those of a real component do.
    if (animal != "spider") visit.integer({"legs", ""}, legs, 0, 8);
    visit.optional_group({"collar", ""}, has_collar, [&](FieldVisitor& inner) {
      inner.integer({"bell", ""}, bell, 1, 3);
    });
  }

  void reset(std::string_view name) {
    const bool is_three_legged = name == "three_legged_cat";
    if (is_three_legged) name = "cat";
    if (!name.empty() && name != "cat" && name != "horse") throw Error(std::string(name) + " does not exist");
    animal = name.empty() ? "cat" : std::string(name);
    legs = is_three_legged ? 3 : 4;
    has_collar = false;
  }

  void visit_fields(FieldVisitor& visit) {
    visit.component(
        {"animal", ""}, [this](std::string_view name) { reset(name); },
        [this](FieldVisitor& inner) { visit_animal(inner); });
    visit.group({"training", ""}, [this](FieldVisitor& inner) {
      inner.integer({"count", ""}, count, -3, 1'000);
      inner.real({"rate", ""}, rate, 0, 1);
    });
    visit.choice({"color", ""}, color, {"black", "off"});
    visit.boolean({"loud", ""}, loud);
    visit.integer_list({"list", ""}, list, 0, 9999);
    visit.group({"shape", ""}, [this](FieldVisitor& inner) { inner.integer({"size", ""}, size, 1, 9); });
  }
};

Sample read(std::string_view yaml, Sample sample = {}) {
  assign_fields(parse_config(yaml, "x.yaml"), [&](FieldVisitor& visitor) { sample.visit_fields(visitor); });
  return sample;
}

Sample set(std::string_view path, std::string_view yaml, Sample sample = {}) {
  assign_path(path, parse_config(yaml, "x.yaml"),
              [&](FieldVisitor& visitor) { sample.visit_fields(visitor); });
  return sample;
}

// Returns the fields that a config writes, in one line.
std::string written(std::string_view yaml) {
  Sample sample;
  std::string text;
  for (const std::string& path : assign_fields(parse_config(yaml, "x.yaml"), fields_of(sample)))
    text += path + " ";
  return text;
}

std::string read_error(std::string_view yaml) {
  return message_of([&] { read(yaml); });
}

std::string set_error(std::string_view path, std::string_view yaml) {
  return message_of([&] { set(path, yaml); });
}

TEST(ConfigReader, SetsWhatIsNamedAndKeepsTheRest) {
  const Sample sample = read("training: {rate: 1e-3}\ncolor: off\n", {.count = 77});
  EXPECT_EQ(sample.rate, 1e-3);
  EXPECT_EQ(sample.color, "off");
  EXPECT_EQ(sample.count, 77);
  EXPECT_EQ(sample.animal, "cat");
}

// tests/golden/bad_configs.txt has refusals of every kind of value.
TEST(ConfigReader, ValuesOfEveryKind) {
  EXPECT_EQ(read("training: {count: -3}").count, -3);
  EXPECT_EQ(read("training: {rate: 1}").rate, 1.0);
  EXPECT_FALSE(std::signbit(read("training: {rate: -0.0}").rate)) << "a run with 0 has the same identity";
  EXPECT_EQ(read("color: \"off\"").color, "off");
  EXPECT_TRUE(read("loud: true").loud);
  EXPECT_FALSE(read("loud: false", {.loud = true}).loud);
  EXPECT_EQ(read_error("color: \"a\\nb\""), "x.yaml:1: color: got \"a b\"; allowed: black, off");
}

TEST(ConfigReader, RefusesLongLists) {
  std::string list = "list: [0";
  for (int i = 1; i < 4096; ++i) list += fmt::format(", {}", i);
  EXPECT_EQ(read(list + "]").list.size(), 4096U);
  EXPECT_EQ(read_error(list + ", 4096]"),
            "x.yaml:1: list: got 4097 numbers; allowed: a list of at most 4096");
}

TEST(ConfigReader, ReportsTheFieldsThatAConfigWrites) {
  EXPECT_EQ(written("training: {rate: 0.1, count: 3}\nanimal: horse\n"),
            "animal.name training.count training.rate ");
  EXPECT_EQ(written("animal: {name: horse, collar: {bell: 2}}"), "animal.name animal.collar.bell ");
  EXPECT_EQ(written("animal: three_legged_cat"), "animal.name animal.legs ")
      << "what a name sets apart from the defaults";
}

TEST(ConfigReader, GroupsAreMaps) {
  EXPECT_EQ(read_error("[1]"), "x.yaml:1: got [1]; allowed: a map of settings");
  EXPECT_EQ(read("training: {}").count, 10);
}

TEST(ConfigReader, ComponentsAsAStringOrAMap) {
  EXPECT_EQ(read("animal: horse").animal, "horse");
  EXPECT_EQ(read("animal: horse", {.legs = 3, .has_collar = true}).legs, 4);
  const Sample sample = read("animal: {legs: 2, collar: {bell: 3}, name: horse}", {.legs = 3});
  EXPECT_EQ(sample.animal, "horse");
  EXPECT_EQ(sample.legs, 2);
  EXPECT_TRUE(sample.has_collar);
  EXPECT_EQ(sample.bell, 3);
  EXPECT_EQ(read("animal: {name: horse}", {.legs = 3}).legs, 4) << "a map starts from the defaults";
}

TEST(ConfigReader, ComponentErrors) {
  EXPECT_EQ(read_error("color: black\nanimal: unicorn"), "x.yaml:2: animal: unicorn does not exist");
  EXPECT_EQ(read_error("animal: \"uni\\ncorn\""), "x.yaml:1: animal: uni corn does not exist");
  EXPECT_EQ(read_error("animal: {name: hores}"),
            "x.yaml:1: animal.name: got hores; did you mean 'horse'?; allowed: cat, horse, spider");
  EXPECT_EQ(read_error("animal: {name: spider, legs: 8}"),
            "x.yaml:1: animal.legs: unknown key; known: name, collar");
}

TEST(ConfigReader, KeyPaths) {
  EXPECT_EQ(set("training.count", "5").count, 5);
  EXPECT_EQ(set("training", "{count: 5}", {.rate = 0.25}).rate, 0.25) << "a group's map merges";
  EXPECT_EQ(set("animal", "horse").animal, "horse");
  EXPECT_EQ(set("animal.legs", "3", {.animal = "horse"}).animal, "horse")
      << "a path leaves the component as it is";
  EXPECT_TRUE(set("animal.collar", "{}").has_collar);
  EXPECT_EQ(set("animal.collar.bell", "2", {.has_collar = true}).bell, 2);
}

TEST(ConfigReader, KeyPathErrors) {
  EXPECT_EQ(set_error("training..count", "5"), "x.yaml:1: training.: unknown key; known: count, rate");
  EXPECT_EQ(set_error("animal.collar.bell", "2"),
            "x.yaml:1: animal.collar.bell: there is no collar; set animal.collar to a map first, {} for its "
            "defaults");
}

}  // namespace
}  // namespace che
