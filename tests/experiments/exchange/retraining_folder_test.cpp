#include <gtest/gtest.h>

#include "experiments/exchange/retraining.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;

RunConfig retrained_config() { return made_up_config("even_pairs", "rope"); }

std::string refusal(const fs::path& experiment) {
  return message_of([&] { RetrainingFolder(experiment, {retrained_config()}); });
}

TEST(RetrainingFolder, RefusesARunThatItDidNotBegin) {
  const ScratchFolder scratch;
  const RunFolder run = store_run(scratch.path(), retrained_config(), RunState::kFinished, 1);
  expect_contains(refusal(scratch.path()), {run.path().string(), "was not begun by this command", "-o"});
  fs::remove(run.path() / "evaluation.csv");  // Nearly trained proves as little.
  fs::remove(run.path() / "status.json");
  EXPECT_NE("(no error)", refusal(scratch.path()));
}

TEST(RetrainingFolder, ResumesARunThatItBegan) {
  const ScratchFolder scratch;
  const RetrainingFolder folder(scratch.path(), {retrained_config()});
  RunFolder::create(scratch.path(), retrained_config());
  folder.store();
  const RunFolder run = store_run(scratch.path(), retrained_config(), RunState::kFinished, 1);
  EXPECT_EQ("(no error)", refusal(scratch.path()));
  RunConfig other = retrained_config();
  other.seed = 1;
  RetrainingFolder(scratch.path(), {other}).store();
  EXPECT_EQ("(no error)", refusal(scratch.path())) << "another call forgets it";
  // An archive that is unpacked over it.
  const fs::path config = run.path() / "config.yaml";
  fs::rename(config, scratch.path() / "config");
  fs::copy(scratch.path() / "config", config);
  EXPECT_NE("(no error)", refusal(scratch.path()));
}

}  // namespace
}  // namespace che
