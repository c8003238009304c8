#include <gtest/gtest.h>

#include "tables/result_tables.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(StepTable, HasTheMeanOfTheRunsThatWereMeasuredAtAStep) {
  const ScratchFolder scratch;
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    const RunConfig config = made_up_config("even_pairs", "rope", seed);
    const double score = seed == 0 ? 0.5 : 1;
    const RunFolder run = store_run(scratch.path(), config, RunState::kFinished, score);
    std::vector<EvaluationRow> rows = run.evaluation();
    for (EvaluationRow& row : rows) row.accuracy = score / 2;
    StepRows steps = {{100, rows}};
    if (seed == 0) steps[200] = rows;
    if (seed == 1) steps[200] = {rows.front()};  // Lengths are missing.
    run.write_at_steps(steps);
  }
  // One that still trains.
  const RunFolder training =
      store_run(scratch.path(), made_up_config("even_pairs", "alibi"), RunState::kTraining);
  training.write_at_steps(open_runs(scratch.path()).back().at_steps());
  const Table table = step_table(make_table(open_runs(scratch.path())));
  const std::string csv = format_table(table, "csv");
  EXPECT_EQ(csv,
            "level,task,encoding,step,n,score\n"
            "regular,even_pairs,rope,100,2,0.375\n"
            "regular,even_pairs,rope,200,1,0.25\n"
            "regular,even_pairs,rope,1000,2,0.75\n"
            "regular,even_pairs,alibi,100,1,0.5\n");
  // Scores at all steps count the same lengths.
  const RunFolder first = open_runs(scratch.path())[1];
  StepRows of_first = first.at_steps();
  of_first[100].back().accuracy = 1;
  first.write_at_steps(of_first);
  const std::string last = std::to_string(of_first[100].back().length);
  const std::string chosen =
      format_table(step_table(make_table(open_runs(scratch.path()),
                                         {.score_lengths = LengthChoice(last), .select = std::nullopt})),
                   "csv");
  EXPECT_TRUE(contains(chosen, "regular,even_pairs,rope,100,2,0.75\n")) << chosen;
  EXPECT_EQ(table.printed.rows.size(), table.data.rows.size());
  EXPECT_TRUE(contains(format_table(table, "md"), "37.5"));
}

}  // namespace
}  // namespace che
