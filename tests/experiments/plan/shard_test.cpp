#include "experiments/plan/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/plan/identity.h"
#include "experiments/plan/operations.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"

namespace che {
namespace {

constexpr std::string_view kSweep =
    "name: a\nbase: {training: {steps: 10}}\naxes: {task: [even_pairs, duplicate_string, binary_addition], "
    "encoding: [rope, kerple, dape_kerple], seed: 0:2, learning_rate: [1e-3, 3e-4]}\n";

std::set<std::string> ids_of_part(const Shard& shard, const std::vector<std::string>& overrides = {},
                                  const RunConditions& conditions = {}) {
  const ScratchFile file(kSweep);
  Sweep sweep = read_sweep(file.path(), overrides, conditions);
  take_shard(sweep, shard);
  std::set<std::string> ids;
  for (const RunConfig& run : sweep.runs) ids.insert(run_id(run));
  return ids;
}

TEST(Shard, PartsAreDisjointAndTogetherTheWhole) {
  const std::set<std::string> all = ids_of_part({});
  EXPECT_EQ(54U, all.size());
  for (const std::int64_t count : {2, 3, 8, 54}) {
    std::set<std::string> together;
    std::size_t runs = 0;
    for (std::int64_t number = 1; number <= count; ++number) {
      const std::set<std::string> part = ids_of_part({number, count});
      runs += part.size();
      together.insert(part.begin(), part.end());
    }
    EXPECT_EQ(all, together) << count;
    EXPECT_EQ(all.size(), runs) << count;
  }
}

// A pass over one seed and rate takes a run to the machine that has it in the pass over all.
TEST(Shard, DoesNotDependOnWhatIsChosen) {
  const RunConditions first_pass{.only = {"seed=0", "learning_rate=3e-4"}};
  for (std::int64_t number = 1; number <= 3; ++number) {
    const std::set<std::string> whole = ids_of_part({number, 3});
    const std::set<std::string> first = ids_of_part({number, 3}, {}, first_pass);
    EXPECT_TRUE(std::ranges::includes(whole, first)) << number;
  }
}

TEST(Shard, PartsHaveAboutEqualWorkInEachPass) {
  const ScratchFile file(kSweep);
  for (const RunConditions& conditions :
       {RunConditions(), RunConditions{.only = {"seed=0", "learning_rate=3e-4"}}}) {
    double least = 1e300;
    double most = 0;
    for (std::int64_t number = 1; number <= 3; ++number) {
      Sweep sweep = read_sweep(file.path(), {}, conditions);
      take_shard(sweep, {number, 3});
      double operations = 0;
      for (const RunConfig& run : sweep.runs) operations += run_operations(run).all();
      least = std::min(least, operations);
      most = std::max(most, operations);
    }
    EXPECT_LT(most, 1.25 * least);
  }
}

TEST(Shard, KeepsRunsTogetherThatTrainInLockStep) {
  std::map<std::string, std::set<std::int64_t>> parts;
  for (std::int64_t number = 1; number <= 4; ++number) {
    for (const std::string& id : ids_of_part({number, 4}, {"execution.replicas=auto"})) {
      parts[id.substr(0, id.find("-lr"))].insert(number);
    }
  }
  EXPECT_EQ(9U, parts.size());
  for (const auto& [cell, numbers] : parts) EXPECT_EQ(1U, numbers.size()) << cell;
}

TEST(Shard, SplitsCellsIntoJobs) {
  std::multiset<std::size_t> sizes;
  for (std::int64_t number = 1; number <= 3; ++number) {
    sizes.insert(
        ids_of_part({number, 3}, {"axes.task=[even_pairs]", "axes.encoding=[rope]", "execution.replicas=2"})
            .size());
  }
  EXPECT_EQ((std::multiset<std::size_t>{2, 2, 2}), sizes);
}

TEST(Shard, RefusesWhatIsNoPart) {
  EXPECT_EQ(3, parse_shard("3/8").number);
  EXPECT_EQ(8, parse_shard("3/8").count);
  for (const char* const text :
       {"", "3", "0/8", "9/8", "-1/8", "1/0", "a/b", "1/8/2", "1/99999999999", "01/8"}) {
    expect_contains(message_of([&] { parse_shard(text); }), {"--shard", "allowed: K/N"});
  }
  expect_contains(message_of([] { ids_of_part({60, 60}); }), {"--shard 60/60: none of 54 runs"});
}

}  // namespace
}  // namespace che
