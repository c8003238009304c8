#include "experiments/plan/sweep.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(Sweep, ExpandsTheProductWithTheLastAxisFastest) {
  const Sweep sweep = read(kQuick);
  EXPECT_EQ(sweep.name, "quick");
  EXPECT_EQ(sweep.description, "two tasks");
  ASSERT_EQ(sweep.runs.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) {
    const RunConfig& run = sweep.runs[i];
    EXPECT_EQ(run.seed, static_cast<std::int64_t>(i % 3));
    EXPECT_EQ(run.encoding.label().text(), i / 3 % 2 == 0 ? "none" : "dape_kerple(dape.hidden=16)");
    EXPECT_EQ(run.task.name, i < 6 ? "even_pairs" : "reverse_string");
    EXPECT_EQ(run.training.steps, 10);
    EXPECT_EQ(run.training.batch_size, 128);
    EXPECT_EQ(run.model.shape().width, 64);
  }
}

TEST(Sweep, WithoutAxesOrBaseIsOneRun) {
  EXPECT_EQ(read("name: one\n", {"task=even_pairs", "encoding=rope"}).runs.size(), 1U);
}

TEST(Sweep, OverridesOfFieldsAndName) {
  const Sweep sweep =
      read(kQuick, {"training.steps=7", "name=other", "model={width: 32}", "learning_rate=1e-3"});
  EXPECT_EQ(sweep.name, "other");
  ASSERT_EQ(sweep.runs.size(), 12U);
  EXPECT_EQ(sweep.runs[11].training.steps, 7);
  EXPECT_EQ(sweep.runs[11].model.shape().width, 32);
  EXPECT_EQ(sweep.runs[11].model.shape().heads, 4);
  EXPECT_EQ(sweep.runs[11].learning_rate, 1e-3);
}

TEST(Sweep, OverridesOfAxes) {
  EXPECT_EQ(read(kQuick, {"seed=5"}).runs.size(), 4U);
  EXPECT_EQ(read(kQuick, {"seed=5"}).runs[3].seed, 5);
  EXPECT_EQ(read(kQuick, {"axes.seed=[3, 4]"}).runs.size(), 8U);
  EXPECT_EQ(read(kQuick, {"axes.training.dropout=[0, 0.1]"}).runs.size(), 24U);
  EXPECT_EQ(read(kQuick, {"task={name: odds_first, order: odd_first}"}).runs[0].task.name, "odds_first");
}

TEST(Sweep, OverridesInsideAnAxisComeAfterIt) {
  const Sweep sweep = read(kQuick, {"encoding.dape.hidden=4", "encoding.dape={}", "encoding=kerple"});
  ASSERT_EQ(sweep.runs.size(), 6U);
  EXPECT_EQ(sweep.runs[0].encoding.label().text(), "dape_kerple(dape.hidden=4)");
  EXPECT_EQ(error_of(kQuick, {"encoding.dape.hidden=4"}),
            "command line: encoding.dape.hidden: none has no dape; name the encoding dape_none, or set "
            "encoding.dape to a map, {} for its defaults (task=even_pairs, encoding=none, seed=0)");
}

TEST(Sweep, AnAxisInsideAnotherNamesTheRunThatItDoesNotFit) {
  EXPECT_EQ(
      error_of(
          "name: a\naxes: {task: [even_pairs], encoding: [dape_kerple, rope], encoding.dape.hidden: [4]}\n"),
      "x.yaml:2: encoding.dape.hidden: dape wraps an encoding that gives a bias and rope gives none; "
      "allowed: "
      "alibi, fire, kerple, none, sandwich, t5 (task=even_pairs, encoding=rope, encoding.dape.hidden=4)");
}

TEST(Sweep, AnAxisInsideAnotherIsAppliedAfterItWhateverTheOrder) {
  const Sweep sweep = read(
      "name: a\nbase: {task: even_pairs}\naxes:\n  encoding.dape.hidden: [4, 8]\n"
      "  encoding: [dape_alibi, dape_kerple]\n");
  ASSERT_EQ(sweep.runs.size(), 4U);
  EXPECT_EQ(sweep.runs[1].encoding.label().text(), "dape_kerple(dape.hidden=4)");
  EXPECT_EQ(sweep.runs[2].encoding.label().text(), "dape_alibi(dape.hidden=8)");
}

TEST(Sweep, TaskAndEncodingMustBeNamed) {
  EXPECT_EQ(error_of("name: a\nbase: {encoding: rope}\n"),
            "x.yaml: task: is missing; name one in base or several in axes (task: [...])");
  EXPECT_EQ(error_of("name: a\naxes: {task: [even_pairs]}\n"),
            "x.yaml: encoding: is missing; name one in base or several in axes (encoding: [...])");
}

TEST(Sweep, AxesMustNotSetTheSame) {
  EXPECT_EQ(
      error_of("name: a\naxes:\n  training.steps: [5, 10]\n  training: [{batch_size: 2}, {steps: 3}]\n"),
      "x.yaml:3: axes.training.steps: sets training.steps, which axes.training sets too; keep axes.training "
      "and remove this one");
}

TEST(Sweep, KeyPathsOfTheCommandLineLeaveOutBase) {
  EXPECT_NE(std::string::npos,
            message_of([] { read(kQuick, {"base.training.steps=3"}); }).find("leave out 'base.'"));
}

TEST(Sweep, UnknownDuplicateAndWronglyTypedKeys) {
  EXPECT_EQ(error_of("name: a\nbasis: {}\n"),
            "x.yaml:2: basis: unknown key; did you mean 'base'?; known: name, description, base, axes, "
            "exclude");
  EXPECT_EQ(error_of("name: a\nbase:\n  training:\n    stepz: 1\n"),
            "x.yaml:4: base.training.stepz: unknown key; did you mean 'steps'?; known: steps, warmup_steps, "
            "batch_size, "
            "first_length, last_length, clip_norm, dropout");
  EXPECT_EQ(error_of("name: a\nbase: {seed: 1, seed: 2}\n"),
            "x.yaml:2: base.seed: duplicate key; first set in line 2");
  EXPECT_EQ(error_of("name: a\nbase: {seed: one}\n"),
            "x.yaml:2: base.seed: got one; allowed: whole numbers from 0 to 9007199254740992");
  EXPECT_EQ(error_of("name: a\nbase: 5\n"), "x.yaml:2: base: got 5; allowed: a map of settings");
  EXPECT_EQ(error_of("name: a\naxes: [seed]\n"),
            "x.yaml:2: axes: got [seed]; allowed: a map of key paths to lists");
  EXPECT_EQ(
      error_of("name: a\naxes:\n  seed: 3\n"),
      "x.yaml:3: axes.seed: got 3; allowed: a list of values, such as [0, 1], or a range of whole numbers, "
      "first:last or first:last:step, from the lower to the higher, in steps of 1 or more");
  EXPECT_EQ(
      error_of("name: a\naxes:\n  seed: []\n"),
      "x.yaml:3: axes.seed: got []; allowed: a list of values, such as [0, 1], or a range of whole numbers, "
      "first:last or first:last:step, from the lower to the higher, in steps of 1 or more");
  EXPECT_EQ(error_of("name: a\naxes:\n  training.steps:\n    - 1\n    - -5\n"),
            "x.yaml:5: training.steps: got -5; allowed: whole numbers from 0 to 4000000000");
  EXPECT_TRUE(error_of("name: a\naxes: {trainin.steps: [1]}\n")
                  .starts_with("x.yaml:2: trainin: unknown key; did you mean 'training'?; known: task, "));
}

TEST(Sweep, AValueListedTwice) {
  EXPECT_EQ(error_of("name: a\naxes:\n  seed:\n    - 0\n    - 0\n"),
            "x.yaml:5: axes.seed: 0 is listed twice; keep one of them");
  EXPECT_EQ(error_of("name: a\naxes: {encoding: [rope, none, rope]}\n"),
            "x.yaml:2: axes.encoding: rope is listed twice; keep one of them");
}

TEST(Sweep, WarnsOfWhatHasNoEffect) {
  const auto warnings = [](const std::string& yaml, const Overrides& overrides) {
    const ScratchFile file(yaml);
    std::string lines;
    read_sweep(file.path(), overrides, {},
               [&](const std::string& warning) { lines += warning.substr(warning.find(": ") + 2) + "\n"; });
    return lines;
  };
  const std::string excluding =
      std::string(kQuick) + "exclude:\n  - {seed: 1}\n  - {seed: 7, task: even_pairs}\n";
  EXPECT_EQ(warnings(excluding, {}), "exclude: leaves out no run\n");
  EXPECT_EQ(warnings(excluding, {"axes.seed=0:7"}), "");
  const std::string replaces = "axes.size: the command line replaces what its variants set for ";
  EXPECT_EQ(warnings(std::string(kVariants), {"encoding=rope", "model.heads=4"}),
            replaces + "encoding\n" + replaces + "encoding.dape.hidden\n");
  EXPECT_EQ(warnings(std::string(kVariants), {"encoding=rope", "model={width: 16}"}),
            replaces + "encoding\n" + replaces + "encoding.dape.hidden\n" + replaces + "model.width\n");
}

TEST(Sweep, WarnsOfSettingsOfTheBaseThatAnAxisReplaces) {
  const auto warnings = [](const std::string& yaml, const Overrides& overrides) {
    const ScratchFile file(yaml);
    std::string lines;
    read_sweep(file.path(), overrides, {}, [&](const std::string& warning) { lines += warning; });
    return lines;
  };
  const std::string base =
      "name: a\nbase:\n  task: even_pairs\n  encoding: {name: kerple, direction: half_offset}\n";
  const std::string both = base + "axes: {encoding: [kerple, rope]}\n";
  EXPECT_TRUE(warnings(both, {}).ends_with(
      ":4: base.encoding: axes.encoding replaces all of it, direction too; write what its values need into "
      "the values, or as axes of their own"));
  EXPECT_EQ(warnings(base + "axes: {encoding.positions: [contiguous, randomized]}\n", {}), "");
  EXPECT_EQ(warnings(base, {"encoding.positions=randomized"}), "");
}

// What a component's name leaves open may be an axis of its own.
TEST(Sweep, AnAxisMaySetWhatANameLeavesOpen) {
  const Sweep sweep = read(
      "name: a\nbase: {task: even_pairs}\naxes:\n  encoding.positions: [contiguous, randomized]\n"
      "  encoding: [rope, kerple]\n");
  ASSERT_EQ(sweep.runs.size(), 4U);
  EXPECT_EQ(sweep.runs[3].encoding.label().text(), "randomized_kerple");
}

TEST(Sweep, UnknownTaskAndEncodingInAnAxis) {
  EXPECT_TRUE(
      error_of("name: a\naxes:\n  task: [even_pairs, even_pears]\n")
          .starts_with("x.yaml:3: task: unknown task 'even_pears'; did you mean 'even_pairs'?; known: "));
  EXPECT_EQ(error_of("name: a\naxes:\n  encoding:\n    - rope\n    - dape_rope\n"),
            "x.yaml:5: encoding: dape wraps an encoding that gives a bias and rope gives none; allowed: "
            "alibi, fire, kerple, none, sandwich, t5");
}

TEST(Sweep, NamesAreFolderNames) {
  EXPECT_EQ(error_of("base: {}\n"), "x.yaml: name: is missing; results go to a folder of that name");
  for (const char* name : {"..", "a/b", "\"\"", ".hidden", "-x", "a b", "[a]", "~"}) {
    const std::string message = error_of(std::string("name: ") + name + "\n");
    EXPECT_TRUE(message.starts_with("x.yaml:1: name: got ")) << message;
    EXPECT_TRUE(contains(message, "; allowed: 1 to 100 letters, digits, '.', '_', '-'")) << message;
  }
  EXPECT_TRUE(error_of("name: a\n", {"name=../b"}).starts_with("command line: name: got ../b; allowed: "));
  EXPECT_EQ(error_of("name: a\ndescription: [1]\n"), "x.yaml:2: description: got [1]; allowed: one line");
}

TEST(Sweep, AMissingConfigIsLookedForBesideItAndInConfigs) {
  const ScratchFolder scratch;
  const ScratchFile file(kQuick);
  std::filesystem::copy_file(file.path(), scratch.path() / "mine.yaml");
  const std::string meant = (scratch.path() / "mine").string();
  EXPECT_EQ(message_of([&] { read_sweep(meant, {}); }),
            fmt::format("{0}: no such file; did you mean '{0}.yaml'?", meant));
  EXPECT_EQ(message_of([&] { read_sweep(scratch.path() / "other.yaml", {}); }),
            (scratch.path() / "other.yaml").string() + ": no such file");
  std::filesystem::create_directory(scratch.path() / "configs");
  std::filesystem::rename(scratch.path() / "mine.yaml", scratch.path() / "configs/mine.yaml");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  const std::string message = message_of([&] { read_sweep("mine", {}); });
  std::filesystem::current_path(before);
  EXPECT_EQ(message, "mine: no such file; did you mean 'configs/mine.yaml'?");
  EXPECT_EQ(message_of([&] { read_sweep(scratch.path() / "configs/mnie.yaml", {}); }),
            fmt::format("{0}/mnie.yaml: no such file; did you mean '{0}/mine.yaml'?",
                        (scratch.path() / "configs").string()));
}

TEST(Sweep, ARangeIsNoValueOfASetting) {
  EXPECT_EQ(error_of(kQuick, {"seed=0:4"}),
            "command line: seed: got 0:4; an override sets one value; axes.seed=0:4 sweeps over several");
  EXPECT_TRUE(error_of(kVariants, {"encoding=rope", "size=1:40"})
                  .starts_with("command line: size: names variants; choose among them with --only"));
  EXPECT_TRUE(contains(error_of(kQuick, {"evaluation.lengths=41:500"}), "allowed: a list of"));
  EXPECT_TRUE(contains(error_of(kQuick, {"evaluation.first_length=41:500"}), "allowed: whole numbers"))
      << "runs that differ in evaluation alone are one";
}

TEST(Sweep, KeepsTheRunsThatAreNotChosen) {
  const Sweep sweep = read(std::string(kQuick) + "exclude:\n  - {seed: 2}\n", {}, {"task=even_pairs"});
  EXPECT_EQ(sweep.runs.size(), 4U);
  ASSERT_EQ(sweep.not_chosen.size(), 4U) << "what exclude leaves out is no run of the config";
  for (const RunConfig& run : sweep.not_chosen) EXPECT_EQ(run.task.name, "reverse_string");
}

TEST(Sweep, BadFiles) {
  EXPECT_EQ(error_of(""), "x.yaml: holds no settings");
  EXPECT_EQ(error_of("name: a\nbase: \x01\n"), "x.yaml:2: byte 0x01 is no text; a config is YAML in UTF-8");
  EXPECT_EQ(message_of([] { read_sweep("/nonexistent/x.yaml", {}); }), "/nonexistent/x.yaml: no such file");
  EXPECT_TRUE(contains(message_of([] { read_sweep(testing::TempDir(), {}); }), "is a folder"));
}

TEST(Sweep, MalformedOverrides) {
  const std::string allowed = "; allowed: key=value, such as training.steps=100";
  EXPECT_EQ(error_of(kQuick, {"training.steps"}), "command line: got 'training.steps'" + allowed);
  EXPECT_EQ(error_of(kQuick, {"=3"}), "command line: got '=3'" + allowed);
  EXPECT_EQ(error_of(kQuick, {""}), "command line: got ''" + allowed);
  EXPECT_EQ(error_of(kQuick, {"training.steps="}),
            "command line: training.steps: got null; allowed: whole numbers from 0 to 4000000000");
  EXPECT_EQ(error_of(kQuick, {"training.steps=-5"}),
            "command line: training.steps: got -5; allowed: whole numbers from 0 to 4000000000");
  EXPECT_EQ(error_of(kQuick, {"training.stepz=5"}),
            "command line: training.stepz: unknown key; did you mean 'steps'?; known: steps, warmup_steps, "
            "batch_size, "
            "first_length, "
            "last_length, clip_norm, dropout");
  EXPECT_TRUE(
      error_of(kQuick, {"steps=5"})
          .starts_with("command line: steps: unknown key; did you mean 'training.steps'?; known: task"));
  EXPECT_TRUE(error_of(kQuick, {"wdith=5"})
                  .starts_with("command line: wdith: unknown key; did you mean 'model.width'?"));
  EXPECT_TRUE(
      error_of(kQuick, {"first_length=5"})
          .starts_with("command line: first_length: unknown key; did you mean 'training.first_length' or "
                       "'evaluation.first_length'?"));
  EXPECT_TRUE(error_of(kQuick, {"training.width=5"})
                  .starts_with("command line: training.width: unknown key; did you mean 'model.width'?"));
  EXPECT_TRUE(
      error_of(kQuick, {"lr=5"}).starts_with("command line: lr: unknown key; did you mean 'learning_rate'?"));
  EXPECT_TRUE(error_of(kQuick, {"bogus=5"}).starts_with("command line: bogus: unknown key; known: task, "));
  EXPECT_TRUE(error_of(kQuick, {"axes.seed=[1, 2"})
                  .starts_with("command line: axes.seed: got '[1, 2', in which a [ is left open"));
  EXPECT_EQ(error_of(kQuick, {"learning_rate=[1, 2]"}),
            "command line: learning_rate: got [1, 2]; an override sets one value; axes.learning_rate=[1, 2] "
            "sweeps over several");
  for (const std::string key : {"exclude", "exclude.seed"}) {
    EXPECT_EQ(error_of(kQuick, {key + "=[{seed: 1}]"}),
              "command line: " + key +
                  ": stands only in the config; --only chooses among the runs on the command line");
  }
  EXPECT_EQ(error_of(kQuick, {"axes.seed=3"}),
            "command line: axes.seed: got 3; allowed: a list of values, such as [0, 1], or a range of whole "
            "numbers, first:last or first:last:step, from the lower to the higher, in steps of 1 or more");
}

TEST(Sweep, UnfitValuesNameTheLineThatSetsThem) {
  EXPECT_EQ(error_of("name: a\nbase:\n  model:\n    width: 64\n    heads: 7\n"),
            "x.yaml:5: model.heads: 7 heads do not divide model.width 64; allowed: divisors of the width");
  EXPECT_EQ(error_of("name: a\nbase:\n  model:\n    width: 60\n"),
            "x.yaml:3: model.heads: 8 heads do not divide model.width 60; allowed: divisors of the width");
  EXPECT_EQ(error_of("name: a\naxes:\n  model.heads: [4,\n   7]\n  seed: [0]\n"),
            "x.yaml:4: model.heads: 7 heads do not divide model.width 256; allowed: divisors of the width "
            "(model.heads=7, seed=0)");
  EXPECT_EQ(error_of(kQuick, {"model.heads=7"}),
            "command line: model.heads: 7 heads do not divide model.width 64; allowed: divisors of the width "
            "(task=even_pairs, encoding=none, seed=0)");
  EXPECT_EQ(
      error_of("name: a\nbase:\n  training: {first_length: 9, last_length: 8}\n"),
      "x.yaml:3: training.first_length, training.last_length: first_length 9 is greater than last_length 8; "
      "lower the first or raise the last");
  EXPECT_EQ(error_of("name: a\nbase:\n  seed: 1\n  model: {width: 40}\naxes:\n  encoding: [none, rope]\n"),
            "x.yaml:4: model.width, model.heads: rope rotates pairs of features and needs an even width per "
            "head; got 40 / 8 = 5; set "
            "model.width to a multiple of 16, such as 48 "
            "(encoding=rope)");
  EXPECT_EQ(
      error_of(
          "name: a\naxes:\n  encoding:\n    - name: rope\n      positions: contiguous\n      dape: {}\n"),
      "x.yaml:6: encoding.dape: dape wraps an encoding that gives a bias and rope gives none; allowed: "
      "alibi, fire, kerple, none, sandwich, t5 (encoding={name: rope, positions: contiguous, dape: {}})");
  EXPECT_EQ(error_of("name: a\nbase:\n  task: duplicate_string\n  evaluation:\n    last_length: 9999\n"
                     "  encoding: randomized_rope\n"),
            "x.yaml:6: encoding.max_position: 2048 randomized positions are too few for the 29997 tokens of "
            "duplicate_string's longest sequence; raise it to 29997 or lower evaluation.last_length");
}

TEST(Sweep, RunsMustDifferInTheirParameters) {
  const std::string rates = error_of("name: a\naxes:\n  task: [even_pairs]\n  learning_rate: [0.01, 1e-2]\n");
  EXPECT_TRUE(rates.starts_with(
      "x.yaml: axes: runs 1 (task=even_pairs, learning_rate=0.01) and 2 (task=even_pairs, "
      "learning_rate=1e-2) are one: both train the parameters even_pairs-none-lr0.01-seed0-"))
      << rates;
  EXPECT_TRUE(contains(error_of("name: a\naxes: {evaluation.samples: [64, 128]}\n"),
                       "runs 1 (evaluation.samples=64) and 2 (evaluation.samples=128) are one"));
}

TEST(Sweep, AnAxisMayBeARange) {
  const Sweep sweep = read(kQuick, {"axes.seed=3:5"});
  ASSERT_EQ(sweep.runs.size(), 12U);
  EXPECT_EQ(sweep.runs[0].seed, 3);
  EXPECT_EQ(sweep.runs[2].seed, 5);
  EXPECT_TRUE(
      error_of("name: a\naxes: {seed: 4:1}\n").starts_with("x.yaml:2: axes.seed: got 4:1; allowed: "));
  EXPECT_EQ(error_of("name: a\naxes: {seed: 0:99999999}\n"),
            "x.yaml:2: axes: more than 10000 runs; allowed: at most that many");
}

TEST(Sweep, NamedVariantsSetSeveralKeysAtOnce) {
  const Sweep sweep = read(kVariants, {"encoding=none"}, {"size=small"});
  ASSERT_EQ(sweep.runs.size(), 3U);
  EXPECT_EQ(sweep.runs[2].seed, 4);
  EXPECT_EQ(sweep.runs[2].model.shape().width, 32);
  EXPECT_EQ(sweep.runs[2].model.shape().layers, 1);
  const Sweep large = read(kVariants, {"encoding=rope"}, {"size=large"});
  EXPECT_EQ(large.runs[0].encoding.label().text(), "rope") << "an override comes after the axes";
  EXPECT_EQ(read(kVariants, {"encoding=rope"}).runs.size(), 6U);
}

TEST(Sweep, MalformedVariants) {
  const auto with = [](std::string_view axis) { return fmt::format("name: a\naxes:\n  {}\n", axis); };
  EXPECT_EQ(
      error_of(with("size: [{label: a}]")),
      "x.yaml:3: axes.size: got {label: a}; allowed: a variant, such as {label: wide, model.width: 512}");
  EXPECT_TRUE(error_of(with("size: [{seed: 1}]"))
                  .starts_with("x.yaml:3: axes.size: got {seed: 1}; allowed: a variant"));
  EXPECT_TRUE(
      error_of(with("size: [{label: a, seed: 1}, 3]")).starts_with("x.yaml:3: axes.size: got 3; allowed"));
  EXPECT_EQ(error_of(with("size: [{label: a, seed: 1}, {label: a, seed: 2}]")),
            "x.yaml:3: axes.size: two variants are called 'a'");
  EXPECT_EQ(error_of(with("model: [{label: a, seed: 1}]")),
            "x.yaml:3: axes.model: is a setting; named variants need an axis with a name of its own, such as "
            "'variant'");
  EXPECT_TRUE(error_of(with("size: [{label: a, sed: 1}]"))
                  .starts_with("x.yaml:3: sed: unknown key; did you mean 'seed'?"));
  EXPECT_EQ(error_of(kVariants, {"size=small"}),
            "command line: size: names variants; choose among them with --only size=LABEL");
  EXPECT_EQ(
      error_of(kVariants, {"axes.model=[{width: 8}]"}),
      "command line: axes.model: sets model.width, which variant 'small' of axes.size sets too; keep variant "
      "'small' of axes.size and remove this one");
}

TEST(Sweep, AVariantThatNamesNoEncodingLeavesItOpen) {
  EXPECT_EQ(error_of(kVariants),
            "x.yaml: encoding: is missing; name one in base or several in axes (encoding: [...])");
}

TEST(Sweep, TooManyRunsAreRefusedBeforeTheyAreMade) {
  std::string list = "0";
  for (int i = 1; i < 1000; ++i) list += ", " + std::to_string(i);
  std::string yaml = "name: a\naxes:\n";
  for (const char* key :
       {"seed", "data_seed", "training.steps", "evaluation.seed", "model.width", "model.layers"}) {
    yaml += fmt::format("  {}: [{}]\n", key, list);
  }
  EXPECT_EQ(error_of(yaml), "x.yaml:4: axes: more than 10000 runs; allowed: at most that many");
}

}  // namespace
}  // namespace che
