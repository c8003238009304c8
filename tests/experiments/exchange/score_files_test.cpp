// Predictions of several files, of which each replaces the result of a run.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/file_lock.h"
#include "experiments/exchange/sample_file.h"
#include "experiments/exchange/stored_predictions.h"
#include "experiments/store/experiment_folder.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// Right predictions for a few samples, of two seeds.
class SeveralPredictions : public ScratchTest {
 protected:
  SeveralPredictions() {
    std::string samples;
    write_samples({.task = "parity_check", .lengths = {5, 6, 7, 8, 9, 10}, .samples = 64, .seed = 2},
                  [&](std::string_view part) { samples += part; });
    for (const int seed : {0, 1}) {
      std::istringstream lines(samples);
      std::ofstream file(files_.emplace_back((scratch_.path() / std::to_string(seed)).string()));
      bool is_header = true;
      for (std::string line; std::getline(lines, line); is_header = false) {
        nlohmann::json object = nlohmann::json::parse(line);
        if (is_header) {
          object.update({{"format", "che-predictions/1"}, {"model", "my_lstm"}, {"model_seed", seed}});
        } else {
          object.erase("input");
          object.erase("mask");
        }
        file << object.dump() << "\n";
      }
    }
    score_files(files_, results());
  }

  fs::path results() const { return scratch_.path() / "results"; }
  std::vector<RunState> states() const {
    std::vector<RunState> states;
    for (const RunFolder& run : open_runs(results())) states.push_back(run.status().state);
    return states;
  }

  std::vector<std::string> files_;
};

TEST_F(SeveralPredictions, ChangeNothingWhereARunIsInUse) {
  const std::vector<RunFolder> runs = open_runs(results());
  RunStatus old = runs.front().status();
  old.updated = "2026-01-31T23:59:59Z";
  runs.front().write_status(old);
  const FileLock lock(runs.back().path());
  expect_contains(message_of([&] { score_files(files_, results()); }), {"is in use by"});
  EXPECT_EQ(old.updated, runs.front().status().updated);
  EXPECT_EQ(states(), (std::vector<RunState>{RunState::kFinished, RunState::kFinished}));
}

// Results of two sets of predictions are no result of either.
TEST_F(SeveralPredictions, ThatCannotAllBeStoredLeaveNoOldResultFinished) {
  const RunFolder first = open_runs(results()).front();
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlim_t room = fs::file_size(first.path() / "status.json") + 100;
    const rlimit limit{room, room};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(message_of([&] { score_files(files_, results()); }) == "(no error)" ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(1, WEXITSTATUS(status));
  EXPECT_EQ(states(), (std::vector<RunState>{RunState::kFailed, RunState::kFailed}));
  score_files(files_, results());
  EXPECT_EQ(states(), (std::vector<RunState>{RunState::kFinished, RunState::kFinished}));
}

}  // namespace
}  // namespace che
