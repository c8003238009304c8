#include "experiments/schedule/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <limits>
#include <string>

#include "core/descriptor.h"
#include "tests/contains.h"

namespace che {
namespace {

Progress training() {
  return {.job = "reverse_string-rope",
          .phase = Phase::kTraining,
          .done = 120,
          .total = 2000,
          .loss = 0.5124,
          .accuracy = 0.712,
          .per_second = 35.12,
          .left = 48};
}

TEST(Progress, SurvivesTheWayThroughItsLine) {
  const auto parsed = parse_progress(to_json_line(training()));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(describe(training()), describe(*parsed));
  EXPECT_EQ(Phase::kTraining, parsed->phase);
  const auto warning = parse_progress(to_json_line(warning_about("run", "its file\nis \xff gone")));
  ASSERT_TRUE(warning.has_value());
  EXPECT_EQ(Phase::kWarning, warning->phase);
  EXPECT_TRUE(warning->text.starts_with("its file\nis "));
  EXPECT_FALSE(warning->left.has_value());
}

TEST(Progress, TakesALossThatIsNotFinite) {
  Progress progress = training();
  progress.loss = std::numeric_limits<double>::quiet_NaN();
  const auto parsed = parse_progress(to_json_line(progress));
  ASSERT_TRUE(parsed);
  expect_contains(describe(*parsed), {"loss nan, "});
}

TEST(Progress, IgnoresOtherLines) {
  for (const char* line :
       {"", "text", "[]", "{}", R"({"job":"a","phase":"training"})",
        R"({"job":"a","runs":1,"phase":"dreaming","done":1,"total":2,"loss":0,"accuracy":0,)"
        R"("per_second":1,"text":""})"}) {
    EXPECT_FALSE(parse_progress(line).has_value()) << line;
  }
}

TEST(Progress, IsDescribedWithTheTimeLeftFirst) {
  EXPECT_EQ("reverse_string-rope: step 120/2000, 48 s left, loss 0.512, accuracy 71.2 %, 35.1 steps/s",
            describe(training()));
  Progress evaluating = training();
  evaluating.phase = Phase::kEvaluating;
  evaluating.left.reset();
  EXPECT_EQ("reverse_string-rope: length 120/2000, loss 0.512, accuracy 71.2 %, 35.1 lengths/s",
            describe(evaluating));
}

TEST(Progress, SaysHowManyRunsItIsTheMeanOf) {
  Progress of_three = training();
  of_three.runs = 3;
  EXPECT_EQ(
      "reverse_string-rope: 3 runs, step 120/2000, 48 s left, loss 0.512, accuracy 71.2 %, 35.1 steps/s",
      describe(*parse_progress(to_json_line(of_three))));
}

// Returns what `write` prints to a terminal with so many columns. A terminal adds a carriage return to each
// line feed.
template <class Write>
std::string printed_to_terminal(unsigned short columns, const Write& write) {
  const std::string end = "[end]";
  const winsize window{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int ends[2];
  EXPECT_EQ(0, openpty(&ends[0], &ends[1], nullptr, nullptr, &window));
  const Descriptor reader(ends[0]), terminal(ends[1]), before(dup(STDOUT_FILENO));
  std::fflush(stdout);
  dup2(terminal.value(), STDOUT_FILENO);
  write();
  print_progress(end);
  dup2(before.value(), STDOUT_FILENO);
  std::string text;
  std::array<char, 4096> part{};
  while (!text.ends_with(end)) {  // The system hands over what it has.
    const ssize_t size = ::read(reader.value(), part.data(), part.size());
    if (size <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  EXPECT_TRUE(text.ends_with(end)) << text;
  return text.substr(0, text.rfind(end));
}

TEST(Progress, IsRedrawnInPlaceOnATerminal) {
  const std::string text = printed_to_terminal(50, [] {
    ProgressDisplay display;
    display.show({.job = "even_pairs-rope", .done = 1, .total = 9});
    display.show_total("total: 0/1 jobs");
    display.show_total("total: 0/1 jobs");
    display.show({.job = "even_pairs-rope", .done = 2, .total = 9});
    display.show(warning_about("even_pairs-rope", "no room"));
    display.finish("even_pairs-rope", "finished");
  });
  // The name gives way to the numbers, and no line is wrapped.
  const std::string first = "even_pairs-rope: step 1/9, loss 0.000, accuracy 0";
  const std::string second = "even_pairs-rope: step 2/9, loss 0.000, accuracy 0";
  const std::string erase = "\x1b[1A\x1b[2K", total = "total: 0/1 jobs\r\n";
  EXPECT_EQ(first + "\r\n" + erase + first + "\r\n" + total + erase + erase + second + "\r\n" + total +
                erase + erase + "even_pairs-rope: warning: no room\r\n" + second + "\r\n" + total + erase +
                erase + "finished\r\n" + total,
            text);
}

TEST(Progress, ShortensALongNameOnATerminal) {
  const std::string text = printed_to_terminal(100, [] {
    Progress progress = training();
    progress.job = "reverse_string-randomized_relative-lr0.001-seed0-0123456789ab";
    ProgressDisplay().show(progress);
  });
  EXPECT_EQ(99 + 2, text.size()) << "the numbers have all the room that they need, the name has the rest";
  EXPECT_EQ(
      "reverse_string-randomized_re..: step 120/2000, 48 s left, loss 0.512, accuracy 71.2 %, 35.1 "
      "steps/s\r\n",
      text);
}

}  // namespace
}  // namespace che
