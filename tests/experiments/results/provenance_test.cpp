#include "experiments/results/provenance.h"

#include <gtest/gtest.h>

#include <fstream>

#include "experiments/results/read_results.h"
#include "models/architectures/foreign.h"
#include "tasks/declared/task_definition.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(Provenance, NamesSeedsAndRates) {
  const ScratchFolder scratch;
  for (const std::int64_t seed : {2, 0, 1}) {
    store_run(scratch.path(), made_up_config("even_pairs", "rope", seed), RunState::kFinished, 0.5);
  }
  RunConfig other = made_up_config("even_pairs", "rope", 1);
  other.learning_rate = 1e-3;
  store_run(scratch.path(), other, RunState::kFinished, 0.5);
  const Fact seeds = provenance(make_table(open_runs(scratch.path())))[1];
  EXPECT_EQ(seeds.name, "Seeds");
  EXPECT_EQ(seeds.value, "0, 1, 2; data seeds: 0; learning rates: 0.0003, 0.001");
}

// A name alone does not tell what somebody calls by it.
TEST(Provenance, NamesDefinitionsAndCorpora) {
  const ScratchFolder scratch;
  const RunConfig declared = made_up_declared_config("");
  store_run(scratch.path(), declared, RunState::kFinished, 0.5);
  store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  std::vector<std::string> values;
  for (const Fact& fact : provenance(make_table(open_runs(scratch.path())))) {
    if (fact.name == "Definitions and corpora") values.push_back(fact.value);
  }
  EXPECT_EQ(std::vector{declared.task.name + ": definition " + definition_digest(declared.task.definition)},
            values);
}

// Conditions are on the configs of runs, and `che evaluate --set` measures them under other settings.
TEST(Provenance, SaysThatMeasurementsStayWithTheirRun) {
  const ScratchFolder scratch;
  const RunConfig rope = made_up_config("even_pairs", "rope");
  const RunFolder run = store_run(scratch.path(), rope, RunState::kFinished, 0.5);
  const auto chosen = [&] {
    ResultTable table = make_table(open_runs(scratch.path()));
    table.conditions.only = {"encoding.scaling=none"};
    return provenance(table)[0];
  };
  EXPECT_EQ(chosen().name, "Only runs with");
  EXPECT_EQ(chosen().value, "encoding.scaling=none");
  std::vector<EvaluationRow> rows = run.evaluation();
  for (EvaluationRow row : run.evaluation()) {
    row.encoding_settings = {{"scaling", "yarn"}};
    store_row(rows, row);
  }
  run.write_evaluation(rows);
  EXPECT_EQ(chosen().value,
            "encoding.scaling=none in their configs; what `che evaluate` measured under other settings stays "
            "with its run");
}

TEST(Provenance, SaysWhichEncodingHasWhichProtocolOption) {
  const ScratchFolder scratch;
  const auto protocol_options = [&] {
    for (const Fact& fact : provenance(make_table(open_runs(scratch.path())))) {
      if (fact.name == "Protocol options") return fact.value;
    }
    return std::string();
  };
  RunConfig kerple = made_up_config("even_pairs", "kerple");
  kerple.encoding.options = kerple.encoding.all_options().with({{"direction", "symmetric"}});
  store_run(scratch.path(), kerple, RunState::kFinished, 0.5);
  expect_contains(protocol_options(), {"encoding.direction=symmetric;"});
  RunConfig wrapped = made_up_config("even_pairs", "dape_kerple");
  wrapped.encoding.options = wrapped.encoding.all_options().with({{"direction", "half_offset"}});
  store_run(scratch.path(), wrapped, RunState::kFinished, 0.5);
  expect_contains(protocol_options(), {"encoding.direction=half_offset (dape_kerple), symmetric (kerple)"});
}

// Runs in bf16 are never pooled with those in fp32, and a table of them alone says so.
TEST(Provenance, NamesBf16) {
  const ScratchFolder scratch;
  RunConfig bf16 = made_up_config("even_pairs", "rope");
  bf16.execution.precision = Precision::kBf16;
  store_run(scratch.path(), bf16, RunState::kFinished, 0.5);
  std::string notes;
  for (const Fact& fact : provenance(make_table(open_runs(scratch.path())))) {
    if (fact.name.starts_with("Settings that differ")) notes += fact.value;
  }
  expect_contains(notes, {"execution.precision=bf16"});
  store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  EXPECT_EQ(2U, make_table(open_runs(scratch.path())).encodings.size());
}

// A statement about one repetition need not hold for another.
TEST(Provenance, SaysThatTheTrainingOfARepetitionIsNotStated) {
  const ScratchFolder scratch;
  for (const std::int64_t seed : {0, 1}) {
    RunConfig config = made_up_config("even_pairs", "rope", seed);
    config.model = foreign_model("my_lstm");
    const RunFolder run = store_run(scratch.path(), config, RunState::kFinished, 0.5);
    RunStatus status = run.status();
    if (seed == 0) status.stated_training = {"steps 10", "steps 5"};
    run.write_status(status);
  }
  ResultTable table = make_table(open_runs(scratch.path()));
  const auto text = [&] {
    std::string all;
    for (const Fact& fact : provenance(table)) all += fact.value + "\n";
    return all;
  };
  expect_contains(text(), {"my_lstm: not stated | steps 10 (other rows, now or before: steps 5)\n"});
  table.score_lengths = "41:43";  // The rows of these lengths may be the earlier ones.
  expect_contains(text(), {"my_lstm: not stated | steps 10 | steps 5\n"});
}

TEST(Provenance, AlwaysNamesTheChoiceOfRuns) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  ResultTable table = make_table(open_runs(scratch.path()));
  table.conditions = {.only = {"seed=0"}, .skip = {"seed=1"}};
  table.left_out = {"a run"};
  std::vector<std::string> needed;
  for (const Fact& fact : provenance(table)) {
    if (fact.is_needed) needed.push_back(fact.name);
  }
  EXPECT_EQ(needed, (std::vector<std::string>{"Only runs with", "No runs with", "Left out"}));
}

TEST(Provenance, SaysWhichFormsAreOurs) {
  const ScratchFolder scratch;
  RunConfig fox = made_up_config("even_pairs", "fox");
  store_run(scratch.path(), fox, RunState::kFinished, 0.5);
  store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  RunConfig decoder = made_up_config("even_pairs", "cope");
  decoder.model.kind = "decoder";
  store_run(scratch.path(), decoder, RunState::kFinished, 0.5);
  EXPECT_EQ("", own_forms(make_table(open_runs(scratch.path()))));
  fox.encoding.set_options({{"start", "cable"}});
  store_run(scratch.path(), fox, RunState::kFinished, 0.5);
  EXPECT_EQ(
      "No program has released the form in an encoder of fox(start=cable): the part for keys on the right is "
      "ours.",
      own_forms(make_table(open_runs(scratch.path()))));
}

// A table on disk says so itself: who reads it later has not seen the warning.
TEST(Provenance, NamesRunsWithADamagedConfig) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("even_pairs", "rope", 0), RunState::kFinished, 0.5);
  EXPECT_EQ(provenance(read_table({scratch.path()})).size(), 6U);
  const RunFolder torn =
      store_run(scratch.path(), made_up_config("even_pairs", "rope", 1), RunState::kFinished, 0.5);
  std::ofstream(torn.path() / "config.yaml") << "torn";
  const std::vector<Fact> facts = provenance(read_table({scratch.path()}));
  ASSERT_EQ(facts.size(), 7U);
  EXPECT_EQ(facts.back().name, "Left out");
  expect_contains(facts.back().value, {torn.id() + "/config.yaml: its last line, the checksum, is missing"});
}

}  // namespace
}  // namespace che
