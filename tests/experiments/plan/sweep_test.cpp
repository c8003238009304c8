#include "experiments/plan/sweep.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

// Messages that tests/golden/bad_configs.txt has are not repeated here.
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

// Whichever stands first, the kind decides whether there is an encoding.
TEST(Sweep, SetsTheKindOfModelBeforeTheEncoding) {
  const std::string lstm = "name: x\nbase: {task: even_pairs, model: {kind: lstm}}\naxes: {seed: [0]}\n";
  const Sweep sweep = read(lstm, {"encoding=rope", "model.kind=decoder"});
  EXPECT_EQ(sweep.runs.at(0).model.kind, "decoder");
  EXPECT_EQ(sweep.runs.at(0).encoding.name, "rope");
}

// Wherever the kind stands, the settings of a base are those of the kind that a run has.
TEST(Sweep, KeepsSettingsOfTheBaseForAnotherKindOfModel) {
  const auto widths = [](const std::vector<RunConfig>& runs) {
    std::string text;
    for (const RunConfig& run : runs) text += fmt::format("{} {} ", run.model.kind, run.model.width());
    return text;
  };
  const std::string wide = "name: x\nbase: {task: even_pairs, model: {width: 32}}\n";
  EXPECT_EQ(widths(read(wide + "axes: {model.kind: [rnn, stack_lstm]}\n").runs), "rnn 32 stack_lstm 32 ");
  EXPECT_EQ(widths(read(wide, {"model.kind=rnn"}).runs), "rnn 32 ");
  EXPECT_EQ(widths(read(wide, {"model={kind: gru}"}).runs), "gru 32 ");
  const std::string variants =
      "axes: {cell: [{label: a, model.kind: lstm}, {label: b, model.kind: rnn, model.width: 16}]}\n";
  EXPECT_EQ(widths(read(wide + variants).runs), "lstm 32 rnn 16 ");
  EXPECT_EQ(widths(read("name: x\nbase: {task: even_pairs, model: {kind: rnn, width: 32}}\n"
                        "axes: {model.kind: [stack_rnn, tape_rnn]}\n")
                       .runs),
            "stack_rnn 32 tape_rnn 32 ");
  // Every value of the axis has the key, which the base's kind has not.
  const Sweep machines = read(
      "name: x\nbase: {task: even_pairs, model: {memory_cell: 4}}\n"
      "axes: {model.kind: [stack_rnn, stack_lstm, tape_rnn]}\n");
  for (const RunConfig& run : machines.runs)
    EXPECT_EQ(run.model.all_options().values().at("memory_cell"), "4");
  const ScratchFolder folder;
  write_file_atomically(folder.path() / "wide.yaml", wide);
  write_file_atomically(folder.path() / "x.yaml",
                        "name: x\nextends: wide.yaml\nbase: {model: {kind: lstm}}\n");
  EXPECT_EQ(widths(read_sweep(folder.path() / "x.yaml", {}).runs), "lstm 32 ");
  write_file_atomically(folder.path() / "wide.yaml", "name: w\nbase: {task: even_pairs, encoding: rope}\n");
  expect_contains(message_of([&] { read_sweep(folder.path() / "x.yaml", {}); }),
                  {"wide.yaml:2: base.encoding: model.kind lstm takes no encoding; leave the key out"});
}

// The base of the config that another extends comes first; its axes stay its own.
TEST(Sweep, ExtendsTheBaseOfAnotherConfig) {
  const ScratchFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file_atomically(folder.path() / name, text);
  };
  const auto problem = [&](const std::string& text) {
    write("x.yaml", text);
    return message_of([&] { read_sweep(folder.path() / "x.yaml", {}); });
  };
  write("far.yaml",
        "name: far\nbase: {training: {steps: 7}, seed: 3, task: even_pairs}\naxes: {data_seed: [1, 2]}\n");
  write("near.yaml",
        "name: near\nextends: far.yaml\nbase: {training: {batch_size: 5}, evaluation: {first_length: 50, "
        "last_length: 60}, encoding: {name: kerple, direction: left_only}}\n");
  write("x.yaml",
        "name: x\nextends: near.yaml\nbase: {seed: 4, encoding: rope, evaluation: {lengths: [44]}}\naxes: "
        "{learning_rate: [1e-3, 2e-3]}\n");
  const Sweep sweep = read_sweep(folder.path() / "x.yaml", {});
  ASSERT_EQ(2U, sweep.runs.size());
  EXPECT_EQ(2U, sweep.extends.size());
  const RunConfig& run = sweep.runs[0];
  EXPECT_EQ(7, run.training.steps);
  EXPECT_EQ(5, run.training.batch_size);
  EXPECT_EQ(4, run.seed);
  EXPECT_EQ("even_pairs", run.task.name);
  EXPECT_EQ("rope", run.encoding.label().text());
  EXPECT_EQ(std::vector<std::int64_t>{44}, run.evaluation.lengths());
  // What is wrong stands in the other file.
  write("far.yaml", "name: far\nbase: {training: {stepz: 7}}\n");
  expect_contains(problem("name: x\nextends: far.yaml\n"), {"far.yaml:2: base.training.stepz: unknown key"});
  expect_contains(problem("name: x\nextends: x.yaml\n"), {"extends: more than 8 configs, or a circle"});
  expect_contains(problem("name: x\nextends: none.yaml\n"),
                  {"x.yaml:2: extends: there is no file", "none.yaml"});
  expect_contains(problem("name: x\nextends: [far.yaml]\n"), {"extends: got [far.yaml]; allowed: the path"});
  const ScratchFolder other;
  write_file_atomically(other.path() / "secret.yaml", "hunter2: 1\n");
  expect_contains(problem("name: x\nextends: " + (other.path() / "secret.yaml").string() + "\n"),
                  {"secret.yaml' lies outside the folder of this config"});
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

TEST(Sweep, AnAxisInsideAnotherIsAppliedAfterItWhateverTheOrder) {
  const Sweep sweep = read(
      "name: a\nbase: {task: even_pairs}\naxes:\n  encoding.dape.hidden: [4, 8]\n"
      "  encoding: [dape_alibi, dape_kerple]\n");
  ASSERT_EQ(sweep.runs.size(), 4U);
  EXPECT_EQ(sweep.runs[1].encoding.label().text(), "dape_kerple(dape.hidden=4)");
  EXPECT_EQ(sweep.runs[2].encoding.label().text(), "dape_alibi(dape.hidden=8)");
}

// As if the whole were an axis, too.
TEST(Sweep, AnAxisInsideAnOverrideIsAppliedAfterIt) {
  const auto columns = [](const std::string& yaml, const Overrides& overrides) {
    std::string text;
    for (const RunConfig& run : read(yaml, overrides).runs) text += run.encoding.label().text() + " ";
    return text;
  };
  const std::string base =
      "name: a\nbase: {task: odds_first, encoding: kerple, evaluation: {lengths: [9]}}\n";
  const std::string limit = base + "axes: {encoding.max_position: [90]}\n";
  EXPECT_EQ(columns(limit, {"encoding=randomized_fire"}), "randomized_fire(max_position=90) ");
  EXPECT_EQ(
      columns(base, {"encoding={name: fire, positions: randomized}", "axes.encoding.max_position=[90]"}),
      "randomized_fire(max_position=90) ");
  EXPECT_EQ(columns(base, {"encoding=dape_kerple", "axes.encoding.dape.hidden=[16, 8]"}),
            "dape_kerple(dape.hidden=16) dape_kerple(dape.hidden=8) ");
  EXPECT_EQ(read(base, {"task=odds_first", "axes.task.order=[odd_first]"}).runs.at(0).row_label().text(),
            "odds_first(order=odd_first)");
  expect_contains(error_of(limit, {"encoding={name: fire, positions: randomized, max_position: 99}"}),
                  {"sets encoding.max_position, which axes.encoding.max_position sets too"});
  const std::string text =
      "name: a\nbase: {text: austen, encoding: rope, evaluation: {lengths: [32]}}\n"
      "axes: {text.documents: [separate, packed]}\n";
  for (const char* const named : {"text=austen", "text={corpus: austen}"}) {
    EXPECT_EQ(read(text, {named}).runs.at(0).text.documents, DocumentUse::kSeparate);
    EXPECT_EQ(read(text, {named}).runs.size(), 2U);
  }
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
  EXPECT_EQ(warnings(std::string(kVariants), {"encoding={name: rope}"}),
            replaces + "encoding\n" + replaces + "encoding.dape.hidden\n");
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
  const std::string text =
      "name: a\nbase: {text: {corpus: austen, documents: separate}, encoding: rope, evaluation: {lengths: "
      "[32]}}\n";
  expect_contains(warnings(text + "axes: {text: [austen]}\n", {}),
                  {"base.text: axes.text replaces all of it, documents too"});
  EXPECT_EQ(warnings(text + "axes: {text.documents: [packed, separate]}\n", {}), "");
}

// What a component's name leaves open may be an axis of its own.
TEST(Sweep, AnAxisMaySetWhatANameLeavesOpen) {
  const Sweep sweep = read(
      "name: a\nbase: {task: even_pairs}\naxes:\n  encoding.positions: [contiguous, randomized]\n"
      "  encoding: [rope, kerple]\n");
  ASSERT_EQ(sweep.runs.size(), 4U);
  EXPECT_EQ(sweep.runs[3].encoding.label().text(), "randomized_kerple");
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

TEST(Sweep, AnAxisMayBeARange) {
  const Sweep sweep = read(kQuick, {"axes.seed=3:5"});
  ASSERT_EQ(sweep.runs.size(), 12U);
  EXPECT_EQ(sweep.runs[0].seed, 3);
  EXPECT_EQ(sweep.runs[2].seed, 5);
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

TEST(Sweep, VariantsAreNoSettings) {
  EXPECT_EQ(error_of(kVariants, {"size=small"}),
            "command line: size: names variants; choose among them with --only size=LABEL");
  EXPECT_EQ(
      error_of(kVariants, {"axes.model=[{width: 8}]"}),
      "command line: axes.model: sets model.width, which variant 'small' of axes.size sets too; keep variant "
      "'small' of axes.size and remove this one");
}

// Every run is asked about each of these.
TEST(Sweep, TooManyExclusionsAreRefusedBeforeARunIsAsked) {
  const auto with_exclusions = [](int count, const std::string& map) {
    std::string yaml = std::string(kQuick) + "exclude:\n";
    for (int i = 0; i < count; ++i) yaml += "  - " + map + "\n";
    return yaml;
  };
  EXPECT_EQ(read(with_exclusions(128, "{seed: 2, data_seed: 0}")).runs.size(), 8U);
  const std::string message =
      "exclude: more than 256 keys, or 10000 values, in all; a key takes a list or a range";
  EXPECT_EQ(error_of(with_exclusions(129, "{seed: 2, no_such_key: 0}")), "x.yaml:141: " + message);
  EXPECT_EQ(error_of(with_exclusions(2, "{seed: 1:5001}")), "x.yaml:14: " + message);
}

}  // namespace
}  // namespace che
