#include "core/config/node.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_file.h"

namespace che {
namespace {

// tests/golden/bad_configs.txt has the other messages.

using Kind = ConfigNode::Kind;

std::string parse_error(std::string_view text) {
  const std::string message = message_of([&] { parse_config(text, "x.yaml"); });
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

std::string file_error(const std::filesystem::path& path) {
  const std::string message = message_of([&] { read_config_file(path); });
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_TRUE(message.starts_with(path.string())) << message;
  return message.substr(std::min(message.size(), path.string().size()));
}

TEST(ConfigTree, KeepsTextOrderQuotesAndPlaces) {
  const ConfigNode root = parse_config("b: 010\na: \"5\"\nc: [off, ~, {d: 1e-3}]\ne:\nf: 'x y'\n", "x.yaml");
  ASSERT_EQ(root.kind, Kind::kMap);
  ASSERT_EQ(root.entries.size(), 5U);
  EXPECT_EQ(root.entries[0].key, "b");
  EXPECT_EQ(root.entries[0].value.text, "010");
  EXPECT_FALSE(root.entries[0].value.quoted);
  EXPECT_EQ(root.entries[1].value.text, "5");
  EXPECT_TRUE(root.entries[1].value.quoted);
  const ConfigNode& list = root.entries[2].value;
  ASSERT_EQ(list.items.size(), 3U);
  EXPECT_EQ(list.items[0].text, "off");
  EXPECT_EQ(list.items[1].kind, Kind::kNull);
  EXPECT_EQ(list.items[2].find("d")->value.text, "1e-3");
  EXPECT_EQ(list.items[2].find("x"), nullptr);
  EXPECT_EQ(list.items[2].find("d")->location.line, 3);
  EXPECT_EQ(list.items[2].find("d")->location.column, 14);
  EXPECT_EQ(root.entries[3].value.kind, Kind::kNull);
  EXPECT_EQ(root.entries[3].value.location.line, 4) << "an empty value stands at its key";
  EXPECT_EQ(root.entries[4].location.line, 5);
  EXPECT_EQ(*root.location.source, "x.yaml");
}

TEST(ConfigTree, TakesByteOrderMarkAndWindowsLineEnds) {
  const ConfigNode root = parse_config(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: \xC3\xA9\r\n",
      "x.yaml");
  ASSERT_EQ(root.entries.size(), 2U);
  EXPECT_EQ(root.entries[0].key, "a");
  EXPECT_EQ(root.entries[1].value.text, "\xC3\xA9");
}

TEST(ConfigTree, BadSyntaxNamesLineAndColumn) {
  expect_contains(parse_error("a: 1\nb: [1, 2\n"), {"x.yaml:2: column 1: not valid YAML"});
  for (const char* open : {"a: 'open\nb: 2\n", "a: \"open\n\n# comment\n"}) {
    expect_contains(parse_error(open), {"not valid YAML: illegal EOF in scalar"});
  }
  const auto names_tab = [](const std::string& text) {
    return parse_error(text).find("indented by spaces, and there is a tab") != std::string::npos;
  };
  EXPECT_TRUE(names_tab("a: 1\nbase:\n\ttask: x\n"));
  EXPECT_FALSE(names_tab("a: |\n  x\n  \ty\nb: 1\nc: 1\n  d: 2\n")) << "that tab is not near the error";
  EXPECT_FALSE(names_tab("a: 1\n  b:\t2\n")) << "that tab is no indentation";
  expect_contains(parse_error("[1"), {"is a bracket or a brace left open?"});
}

TEST(ConfigTree, RefusesWhatIsNoText) {
  for (const char* invalid :
       {"\xC0\xAF", "\xED\xA0\x80", "\xE2\x82", "\xF4\x90\x80\x80", "\xE0\x80\x80", "\x80"}) {
    expect_contains(parse_error(invalid), {"is no text"});
  }
}

TEST(ConfigTree, RefusesWhatConfigsDoWithout) {
  for (const char* anchor : {"a: &x 1\nb: *x\n", "a: &x [1]\n"}) {
    expect_contains(parse_error(anchor), {"x.yaml:1: anchors and aliases"});
  }
  EXPECT_EQ(
      parse_error("a:\n  ? {b: 1}\n  : 2\n"),
      "x.yaml:2: a.: a key must be text, not null, a list or a map; is a bracket or a brace left open?");
  EXPECT_EQ(parse_error("~: 3\n"),
            "x.yaml:1: a key must be text, not null, a list or a map; is a bracket or a brace left open?");
}

TEST(ConfigTree, RefusesDepthAndSizeBeforeTheyHurt) {
  for (const std::string_view open : {"[", "{a: ", "- ", "? "}) {
    std::string deep;
    while (deep.size() < 1'000'000) deep += open;
    const std::string message = parse_error(deep);
    EXPECT_NE(message, "(no error)") << open;
    EXPECT_LT(message.size(), 300U);
  }
  EXPECT_EQ(parse_error(std::string(64, '[') + std::string(64, ']')), "(no error)");
  std::string wide;
  for (int i = 0; wide.size() < 1'000'000; ++i) wide += std::to_string(i) + ":\n";
  EXPECT_EQ(parse_error(wide), "(no error)");
  EXPECT_EQ(parse_error(std::string((1 << 20) + 1, 'a')),
            "x.yaml: longer than 1048576 bytes, the most a config may have");
}

TEST(ConfigTree, RefusesFilesThatHoldNoConfig) {
  EXPECT_EQ(file_error("/nonexistent/x.yaml"), ": no such file");
  EXPECT_EQ(file_error(testing::TempDir()), ": is a folder; a config is a YAML file");
  EXPECT_EQ(file_error("/dev/zero"), ": is no file; a config is a YAML file");
  const ScratchFile huge(std::string(2 << 20, '#'));
  EXPECT_EQ(file_error(huge.path()), ": longer than 1048576 bytes, the most a config may have");
}

TEST(ConfigTree, RefusesUnreadableFiles) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads every file";
  const ScratchFile file("name: quick\n");
  std::filesystem::permissions(file.path(), std::filesystem::perms::none);
  EXPECT_EQ(message_of([&] { read_config_file(file.path()); }),
            "cannot read '" + file.path().string() + "': Permission denied");
}

TEST(ConfigTree, ShortTextIsOneLineOfBoundedLength) {
  EXPECT_EQ(short_text(parse_config("a: [1, \"2\", {b: ~}]", "")), "{a: [1, \"2\", {b: null}]}");
  EXPECT_EQ(short_text(parse_config("\"a\\nb\\tc\"", "")), "\"a b c\"");
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "\xC3\xA9";
  EXPECT_EQ(one_line("x" + accents).size(), 1U + 2 * 40 + 3) << "a character is not cut in two";
}

}  // namespace
}  // namespace che
