#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "core/files.h"
#include "tests/contains.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;

void write_script(const fs::path& path, const std::string& commands) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "#!/bin/sh\n" << commands;
  fs::permissions(path, fs::perms::owner_all);
}

// The exit code of scripts/reproduce.sh with a `che` whose commands run and plot end with these, and what it
// printed.
std::pair<int, std::string> reproduce(int run, int plot) {
  const ScratchFolder scratch;
  const fs::path root = scratch.path();
  write_script(root / "scripts/setup.sh", "");
  fs::copy_file(fs::path(CHE_SOURCE_DIR) / "scripts/reproduce.sh", root / "scripts/reproduce.sh");
  write_script(root / "build/che",
               fmt::format("case $1 in\n"
                           "check) echo sweep ;;\n"
                           "run) exit {} ;;\n"
                           "table) mkdir -p results/sweep && echo ours > results/sweep/table.md ;;\n"
                           "plot) exit {} ;;\n"
                           "esac\n",
                           run, plot));
  const fs::path output = root / "output.txt";
  const int status = std::system(
      fmt::format("{} > {} 2>&1", (root / "scripts/reproduce.sh").string(), output.string()).c_str());
  return {WEXITSTATUS(status), read_file(output)};
}

TEST(Reproduce, EndsWithTheTable) {
  const auto [code, output] = reproduce(0, 0);
  EXPECT_EQ(code, 0);
  expect_contains(output, {"ours\n"});
}

TEST(Reproduce, ShowsTheTableOfASweepWhoseRunsAllFailed) {
  const auto [code, output] = reproduce(1, 2);
  EXPECT_EQ(code, 1) << "che run's";
  expect_contains(output, {"ours\n"});
}

TEST(Reproduce, AFigureThatCannotBeDrawnIsAFailure) { EXPECT_NE(reproduce(0, 2).first, 0); }

TEST(Reproduce, AnInterruptionEndsIt) {
  const auto [code, output] = reproduce(75, 0);
  EXPECT_EQ(code, 75);
  EXPECT_FALSE(contains(output, "ours\n")) << output;
}

}  // namespace
}  // namespace che
