#include "experiments/plan/run_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/architectures/foreign.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"

namespace che {
namespace {

TEST(RunFilter, ExcludeLeavesRunsOut) {
  const std::string exclude =
      "exclude:\n  - {task: even_pairs, seed: [1, 2]}\n  - {encoding.dape.hidden: 16, seed: 0:1}\n";
  const Sweep sweep = read(std::string(kQuick) + exclude);
  ASSERT_EQ(sweep.runs.size(), 5U);
  EXPECT_EQ(sweep.runs[0].seed, 0);
  EXPECT_EQ(sweep.runs[1].task.name, "reverse_string");
  EXPECT_EQ(sweep.runs[4].encoding.label().text(), "dape_kerple(dape.hidden=16)") << sweep.runs[4].seed;
  EXPECT_EQ(sweep.runs[4].seed, 2);
}

TEST(RunFilter, AMereNameExcludesEveryFormOfIt) {
  const std::string config =
      "name: a\nbase: {encoding: none}\naxes: {task: [even_pairs, {name: odds_first, order: odd_first}], "
      "encoding: [{name: kerple, direction: left_only}, rope]}\n";
  EXPECT_EQ(4U, read(config).runs.size());
  EXPECT_EQ(2U, read(config + "exclude: [{task: odds_first}]\n").runs.size());
  EXPECT_EQ(2U, read(config + "exclude: [{encoding: kerple}]\n").runs.size());
  EXPECT_EQ(4U, read(config + "exclude: [{encoding: {name: kerple}}]\n").runs.size());
}

TEST(RunFilter, ExclusionMayRuleOutWhatDoesNotFit) {
  const std::string_view yaml =
      "name: a\nbase: {task: even_pairs, encoding: none}\naxes: {model.heads: [4, 7]}\nexclude: "
      "[{model.heads: 7}]\n";
  EXPECT_EQ(read(yaml).runs.size(), 1U);
}

TEST(RunFilter, OnlyKeepsWhatHoldsEverything) {
  EXPECT_EQ(read(kQuick, {}, {"task=even_pairs", "seed=[0, 2]"}).runs.size(), 4U);
  EXPECT_EQ(read(kQuick, {}, {"encoding={name: kerple, dape: {hidden: 16}}"}).runs.size(), 6U);
  EXPECT_EQ(read(kQuick, {}, {"encoding.name=kerple", "seed=1:9"}).runs.size(), 4U);
  EXPECT_EQ(read(kQuick, {"axes.learning_rate=[1e-3, 3e-4]"}, {"learning_rate=0.001"}).runs.size(), 12U);
}

TEST(RunFilter, SkipLeavesOutWhatHoldsAny) {
  const ScratchFile file(kQuick);
  const auto count = [&](const RunConditions& conditions) {
    return read_sweep(file.path(), {}, conditions).runs.size();
  };
  EXPECT_EQ(count({.skip = {"task=even_pairs"}}), 6U);
  EXPECT_EQ(count({.skip = {"task=even_pairs", "seed=[0, 2]"}}), 2U);
  EXPECT_EQ(count({.only = {"seed=0:1"}, .skip = {"encoding=none"}}), 4U);
  EXPECT_EQ(message_of([&] { count({.skip = {"sed=1"}}); }).substr(0, 17), "command line: sed");
  expect_contains(message_of([&] { count({.skip = {"seed=0:2"}}); }),
                  {"none of its 12 runs is left by exclude and --skip"});
}

TEST(RunFilter, ListedValuesThatNoRunHoldsAreNamed) {
  const ScratchFile file(kQuick);
  const auto warnings = [&](const std::vector<std::string>& only) {
    std::vector<std::string> lines;
    read_sweep(file.path(), {}, {.only = only},
               [&](const std::string& warning) { lines.push_back(warning); });
    return lines;
  };
  EXPECT_EQ(warnings({"task=even_pairs", "seed=[0, 7, 2, 9]", "encoding=[dape_kerple, rope]"}),
            (std::vector<std::string>{"--only: no run of the config has seed=7",
                                      "--only: no run of the config has seed=9",
                                      "--only: no run of the config has encoding=rope"}));
  EXPECT_TRUE(warnings({"seed=[0, 2]", "task=[reverse_string, even_pairs]"}).empty());
  EXPECT_TRUE(warnings({"seed=1:9"}).empty()) << "the end of a range may lie beyond the runs";
}

TEST(RunFilter, ASkipThatLeavesOutNothingIsNamed) {
  const ScratchFile file(kQuick);
  for (const auto& [skip, named] :
       {std::pair("encoding=fire", "encoding=fire"), std::pair("seed=7:9", "seed=7 to 9"),
        std::pair("seed=[7, 8]", "seed=7"), std::pair("encoding={name: rope, fraction: 0.5}", "encoding={"),
        std::pair("seed=2:9", ""), std::pair("encoding=none", "")}) {
    std::string warned;
    read_sweep(file.path(), {}, {.skip = {skip}}, [&](const std::string& warning) { warned += warning; });
    const std::string expected = std::string("--skip: no run of the config has ") + named;
    EXPECT_EQ(warned.substr(0, *named == 0 ? 1 : expected.size()), *named == 0 ? "" : expected) << skip;
  }
}

TEST(RunFilter, ACorpusHasItsNameAndItsFolder) {
  const std::string folder = CHE_SOURCE_DIR "/data/text/austen";
  const std::string yaml = "name: x\nbase: {encoding: kerple, text: " + folder +
                           ", evaluation: {lengths: [128]}}\n"
                           "axes: {text.documents: [packed, separate]}\n";
  for (const std::string& named : {std::string("austen"), folder, folder + "/"}) {
    EXPECT_EQ(read(yaml, {}, {"text=" + named}).runs.size(), 2U) << named;
    const ScratchFile file(yaml);
    EXPECT_THAT(message_of([&] { read_sweep(file.path(), {}, {.skip = {"text=" + named}}); }),
                testing::HasSubstr("none of its 2 runs is left by exclude and --skip"))
        << named;
  }
}

// A model outside che may be called like a number; 1e3 and 1000 are two names, and one learning rate.
TEST(RunFilter, NamesThatLookLikeNumbersAreNames) {
  const auto matches = [](const std::string& name, const std::string& condition) {
    RunConfig run;
    run.task.reset("even_pairs");
    run.model = foreign_model(name);
    RunFilter filter = filters_of({.only = {condition}}, {}).front();
    return filter.matches(AskedRun(run, {}));
  };
  EXPECT_TRUE(matches("1.1", "encoding=1.1"));
  EXPECT_FALSE(matches("1.10", "encoding=1.1"));
  EXPECT_FALSE(matches("1.1", "encoding=1.10"));
  EXPECT_FALSE(matches("1000", "model.name=1e3"));
  EXPECT_TRUE(matches("1e3", "model.name=1e3"));
  EXPECT_EQ(1U, read("name: x\naxes: {task: [even_pairs], encoding: [rope], learning_rate: [1e-3, 1e-4]}\n",
                     {}, {"learning_rate=0.001"})
                    .runs.size());
}

TEST(RunFilter, AFilterAsksRunsOfEveryStructure) {
  const std::string_view yaml =
      "name: a\nbase: {task: even_pairs}\naxes: {encoding: [rope, kerple, dape_kerple, {name: kerple, "
      "direction: left_only, dape: {}}]}\n";
  const auto kept = [&](const std::string& only) {
    std::string labels;
    for (const RunConfig& run : read(yaml, {}, {only}).runs) labels += run.encoding.label().text() + " ";
    return labels;
  };
  EXPECT_EQ(kept("encoding.direction=symmetric"), "kerple dape_kerple ");
  EXPECT_EQ(kept("encoding.direction=[symmetric, left_only]"),
            "kerple dape_kerple dape_kerple(direction=left_only) ");
  EXPECT_EQ(kept("encoding.dape.variant=concat_residual"), "dape_kerple dape_kerple(direction=left_only) ");
  EXPECT_EQ(kept("encoding.dape={variant: concat_residual}"),
            "dape_kerple dape_kerple(direction=left_only) ");
}

// Tables show 5..8 in steps of 2 as last_length=7, which is the last length that is tested.
TEST(RunFilter, TestLengthsMayBeWrittenAsTheConfigOrAsTablesWriteThem) {
  const std::string_view yaml =
      "name: a\nbase: {task: even_pairs, encoding: rope, training: {last_length: 4}}\naxes:\n"
      "  lengths:\n"
      "    - {label: odd, seed: 0, evaluation: {first_length: 5, last_length: 8, length_step: 2}}\n"
      "    - {label: all, seed: 1, evaluation: {first_length: 5, last_length: 8, length_step: 1}}\n"
      "    - {label: six, seed: 2, evaluation: {first_length: 6, last_length: 6, length_step: 2}}\n";
  const auto kept = [&](const std::string& only) {
    std::vector<std::int64_t> steps;
    for (const RunConfig& run : read(yaml, {}, {only}).runs) {
      steps.push_back(run.evaluation.first_length * 10 + run.evaluation.length_step);
    }
    return steps;
  };
  using Kept = std::vector<std::int64_t>;
  EXPECT_EQ(kept("evaluation.last_length=7"), (Kept{52}));
  EXPECT_EQ(kept("evaluation.last_length=8"), (Kept{52, 51}));
  EXPECT_EQ(kept("evaluation.last_length=6:7"), (Kept{52, 62}));
  EXPECT_EQ(kept("evaluation.length_step=2"), (Kept{52, 62}));
  EXPECT_EQ(kept("evaluation.length_step=1"), (Kept{51, 62})) << "a single length has any step";
  EXPECT_EQ(kept("evaluation.first_length=5"), (Kept{52, 51}));
  EXPECT_EQ(kept("evaluation={first_length: 5, last_length: 7}"), (Kept{52}));
  EXPECT_EQ(kept("evaluation.lengths=[5, 7]"), (Kept{52}));
  EXPECT_EQ(kept("evaluation.lengths=5:7:2"), (Kept{52}));
  EXPECT_EQ(kept("evaluation.lengths=[[6], [5, 6, 7, 8]]"), (Kept{51, 62}));
  EXPECT_EQ(kept("evaluation.lengths=6"), (Kept{62}));
}

TEST(RunFilter, FilteringManyRunsByManyValuesEnds) {
  const std::string_view yaml = "name: a\nbase: {task: even_pairs, encoding: rope}\naxes: {seed: 0:2999}\n";
  EXPECT_EQ(read(yaml, {}, {"seed=1000:9999"}).runs.size(), 2000U);
  const Overrides structures = {"axes.seed=0:399", "axes.task=[even_pairs, reverse_string, odds_first]",
                                "axes.encoding=[none, rope, kerple, dape_kerple]"};
  EXPECT_EQ(read(yaml, structures, {"seed=200:9999"}).runs.size(), 2400U);
}

TEST(RunFilter, FiltersThatCannotMatchAreRefused) {
  EXPECT_EQ(error_of(kQuick, {}, {"seed=7"}),
            "x.yaml: none of its 12 runs is left by exclude and --only; in its runs, seed is 0, 1, 2");
  EXPECT_EQ(
      error_of(kQuick, {"axes.seed=0:30"}, {"task=even_pairs", "seed=77"}),
      "x.yaml: none of its 124 runs is left by exclude and --only; in its runs, seed is 0, 1, 2, 3, 4, 5, "
      "6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, ...");
  EXPECT_EQ(error_of(std::string(kQuick) + "exclude: [{task: even_pairs, seed: 1}]\n", {},
                     {"task=even_pairs", "seed=1"}),
            "x.yaml: none of its 12 runs is left by exclude and --only; `che check` without it shows what "
            "there is");
  EXPECT_EQ(error_of(kVariants, {"encoding=rope"}, {"size=smal"}),
            "command line: size: unknown variant smal; did you mean 'small'?; known: small, large");
  EXPECT_EQ(error_of(kVariants, {"encoding=rope"}, {"small"}),
            "command line: got 'small'; allowed: key=value, such as --only size=small");
  EXPECT_EQ(error_of(kVariants, {"encoding=rope"}, {"none"}),
            "command line: got 'none'; allowed: key=value, such as --only task=parity_check");
  EXPECT_TRUE(
      error_of(kVariants, {"encoding=rope"}, {"sise=small"}).ends_with("; axes of named variants: size"));
  EXPECT_FALSE(contains(error_of(kVariants, {"encoding=rope"}, {"seed=abc"}), "named variants"))
      << "the value is wrong, not the key";
}

}  // namespace
}  // namespace che
