// Configs and command lines that are refused, and the message for each, as data:
// tests/golden/bad_configs.txt. A case is a line, followed by an indented line with the message, or
// "accepted":
//
//   yaml TEXT              a whole config
//   set KEY=VALUE          an override of a small config; several are separated by " && "
//   only KEY=VALUE         a choice among its runs
//
// with the escapes \n, \t, \\ and \xHH. Values on the border of what is allowed are accepted.
// CHE_UPDATE_GOLDEN=1 writes the messages anew: read the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/sweep.h"
#include "tests/refusal_table.h"
#include "tests/scratch_file.h"

namespace che {
namespace {

constexpr std::string_view kSmall = "name: a\nbase: {task: even_pairs, encoding: rope, model: {heads: 1}}\n";

std::vector<std::string> arguments(std::string_view text) {
  constexpr std::string_view kSeparator = " && ";
  std::vector<std::string> found;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(kSeparator);
    found.push_back(unescaped(text.substr(0, end)));
    if (end != std::string_view::npos) text.remove_prefix(end + kSeparator.size());
  }
  return found;
}

// What reading the config of `line` says: the message, with "x.yaml" in place of the file's path.
std::string outcome(const std::string& line) {
  const std::string kind = line.substr(0, line.find(' '));
  const std::string_view text = std::string_view(line).substr(std::min(line.size(), kind.size() + 1));
  const bool is_yaml = kind == "yaml";
  if (!is_yaml && kind != "set" && kind != "only" && kind != "skip") return "no such kind of case: " + kind;
  const ScratchFile file(is_yaml ? unescaped(text) : std::string(kSmall));
  const auto given = [&](std::string_view wanted) {
    return kind == wanted ? arguments(text) : std::vector<std::string>();
  };
  return refusal_of(
      [&] {
        read_sweep(file.path(), given("set"), {.only = given("only"), .skip = given("skip")},
                   [](const std::string&) {});
      },
      file.path().string(), "x.yaml");
}

TEST(BadConfigs, AreRefusedWithTheMessagesOfTheTable) {
  EXPECT_GE(check_refusal_table(CHE_SOURCE_DIR "/tests/golden/bad_configs.txt", outcome).size(), 300U);
}

}  // namespace
}  // namespace che
