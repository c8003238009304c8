// Tests results on network file systems, which network_files.cpp imitates.
#include <cstdlib>
#include <string>

#include "tests/cli/program_test.h"

namespace che {
namespace {

class NetworkFiles : public ProgramTest {
 protected:
  ~NetworkFiles() override { set(""); }

  static void set(const std::string& wrong) {
    ::setenv("NETWORK_FILES", wrong.c_str(), 1);
    wrong.empty() ? ::unsetenv("LD_PRELOAD") : ::setenv("LD_PRELOAD", CHE_NETWORK_FILES, 1);
  }
  Outcome che_on(const std::string& wrong, const std::vector<std::string>& arguments) const {
    set(wrong);
    Outcome outcome = che(arguments);
    set("");
    return outcome;
  }
};

TEST_F(NetworkFiles, GiveTheSameResults) {
  const std::string straight = (folder_ / "straight").string();
  output_of({"run", small_config("  execution: {checkpoint_seconds: 0}\n"), "-o", straight});
  for (const char* wrong : {"no-locks", "stale", "lost"}) {
    SCOPED_TRACE(wrong);
    const std::string folder = (folder_ / wrong).string();
    const Outcome outcome =
        che_on(wrong, {"run", small_config("  execution: {checkpoint_seconds: 0}\n"), "-o", folder});
    EXPECT_EQ(0, outcome.exit_code) << outcome.output;
    EXPECT_EQ(contents(straight, "evaluation.csv"), contents(folder, "evaluation.csv"));
    EXPECT_EQ(contents(straight, "checkpoint.bin"), contents(folder, "checkpoint.bin"));
    const Outcome status = che_on(wrong, {"status", folder});
    expect_contains(status.output, {"2 runs: 2 finished"});
    const Outcome table = che_on(wrong, {"table", folder});
    EXPECT_EQ(0, table.exit_code) << table.output;
    EXPECT_FALSE(contains(table.output, "warning")) << table.output;
  }
}

TEST_F(NetworkFiles, WithoutHardLinksNothingRuns) {
  const Outcome outcome = che_on("no-links", {"run", small_config(), "-o", results()});
  EXPECT_EQ(1, outcome.exit_code);
  expect_contains(outcome.output, {"cannot write '" + results() + "/lock.1': Operation not permitted",
                                   "locks need a file system with hard links", "--output"});
}

}  // namespace
}  // namespace che
