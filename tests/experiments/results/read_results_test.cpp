#include "experiments/results/read_results.h"

#include <gmock/gmock.h>

#include <fstream>
#include <optional>

#include "experiments/results/provenance.h"
#include "experiments/results/result_table.h"
#include "models/architectures/foreign.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Runs of rope and kerple, and predictions of an my_lstm.
class ModelsLeftOut : public testing::Test {
 protected:
  ModelsLeftOut() {
    for (const char* encoding : {"rope", "kerple"}) {
      store_run(scratch_.path(), made_up_config("even_pairs", encoding), RunState::kFinished, 0.5);
    }
    for (const std::int64_t seed : {0, 1}) {
      RunConfig my_lstm;
      my_lstm.model = foreign_model("my_lstm");
      my_lstm.task.reset("even_pairs");
      my_lstm.seed = seed;
      my_lstm.evaluation = made_up_config("even_pairs", "rope").evaluation;
      store_run(scratch_.path(), my_lstm, RunState::kFinished, 0.75);
    }
  }

  std::vector<std::string> by(const std::vector<std::string>& conditions) const {
    return read_table({scratch_.path()}, RunChoice({.only = conditions})).left_out;
  }

  ScratchFolder scratch_;
};

TEST_F(ModelsLeftOut, ByAChoiceOfEncodingsThatDoesNotNameThem) {
  const std::string line =
      "the model my_lstm (2 runs), by --only encoding=[rope]; to keep it, name it too: "
      "encoding=[rope,my_lstm]";
  EXPECT_THAT(by({"encoding=[rope]"}), ElementsAre(line));
  EXPECT_THAT(by({"encoding=[rope,my_lstm]"}), IsEmpty());
  EXPECT_THAT(by({"encoding=my_lstm"}), IsEmpty());
  EXPECT_THAT(by({"encoding=kerple"}), ElementsAre(testing::EndsWith("encoding=[kerple,my_lstm]")));
  // And the table says it.
  bool is_noted = false;
  for (const Fact& fact :
       provenance(read_table({scratch_.path()}, RunChoice({.only = {"encoding=[rope]"}})))) {
    is_noted |= fact.name == "Left out" && fact.value == line;
  }
  EXPECT_TRUE(is_noted);
}

TEST_F(ModelsLeftOut, ByASettingThatPredictionsDoNotHave) {
  EXPECT_THAT(
      by({"learning_rate=0.0003", "seed=0"}),
      ElementsAre("the model my_lstm (1 run), by --only learning_rate=0.0003; of a model outside che only "
                  "task, seed and evaluation are known"));
  EXPECT_THAT(
      by({"model.width=64"}),
      ElementsAre("the model my_lstm (2 runs), by --only model.width=64; of a model outside che only task, "
                  "seed and evaluation are known"));
  EXPECT_THAT(by({"model.kind=encoder"}), IsEmpty()) << "predictions have a kind, and it was not asked for";
  const RunChoice skipped({.only = {"learning_rate=0.0003"}, .skip = {"model.name=my_lstm"}});
  EXPECT_THAT(read_table({scratch_.path()}, skipped).left_out, IsEmpty()) << "not by --only";
}

TEST_F(ModelsLeftOut, InAFolderBeforeThatOfTheOthers) {
  const ScratchFolder first;
  RunConfig my_lstm = made_up_config("even_pairs", "rope");
  my_lstm.model = foreign_model("my_lstm");
  store_run(first.path(), my_lstm, RunState::kFinished, 0.75);
  const RunChoice choice({.only = {"learning_rate=0.0003"}});
  EXPECT_FALSE(read_table({first.path(), scratch_.path()}, choice).runs.empty());
}

TEST_F(ModelsLeftOut, AreNoneWhereTheyWereNotAskedFor) {
  EXPECT_THAT(by({"seed=0"}), IsEmpty()) << "which the model has";
  store_run(scratch_.path(), made_up_config("parity_check", "rope"), RunState::kFinished, 0.5);
  EXPECT_THAT(by({"task=parity_check", "encoding=rope"}), IsEmpty());
}

// A run with all rows whose status or file is not that of a finished run stands in no table.
TEST(SameRunInTwoFolders, CountsWhereItHasAScoreThatCounts) {
  const ScratchFolder first, second;
  const RunConfig config = made_up_config("even_pairs", "rope");
  store_run(second.path(), config, RunState::kFinished, 0.75);
  const auto scored = [&] {
    const ResultTable table = read_table({first.path(), second.path()}, RunChoice());
    return table.runs.size() == 1 ? table.runs[0].score : std::nullopt;
  };
  const RunFolder run = store_run(first.path(), config, RunState::kFinished, 0.5);
  EXPECT_EQ(0.5, scored());
  std::ofstream(run.path() / "metrics.csv", std::ios::app) << "damage";
  EXPECT_EQ(0.75, scored());
  RunStatus status = store_run(first.path(), config, RunState::kFinished, 0.5).status();
  EXPECT_EQ(0.5, scored());
  status.state = RunState::kFailed;
  run.write_status(status);
  EXPECT_EQ(0.75, scored());
}

}  // namespace
}  // namespace che
