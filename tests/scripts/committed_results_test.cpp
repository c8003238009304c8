#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/files.h"
#include "tests/contains.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// A folder with the script, a stored run with a checkpoint, and a `che` that writes a table with two columns
// to whatever --output names and notes its arguments in calls.txt.
class CommittedResults : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root() / "scripts");
    fs::create_directories(root() / "build");
    fs::create_directories(run());
    fs::copy_file(fs::path(CHE_SOURCE_DIR) / "scripts/committed_results.sh",
                  root() / "scripts/committed_results.sh");
    std::ofstream(run() / "config.yaml") << "task: even_pairs\n";
    std::ofstream(run() / "checkpoint.a") << "parameters";
    std::ofstream(root() / "build/che")
        << "#!/bin/sh\n"
           "echo \"$*\" >> calls.txt\n"
           "while [ $# -gt 0 ]; do\n"
           "  if [ \"$1\" = --output ]; then\n"
           "    printf 'level,task,encoding,cell,n\\nregular,a,randomized_kerple,x,1\\n"
           "regular,a,dape_kerple,y,1\\n' > \"$2\"\n"
           "  fi\n"
           "  shift\n"
           "done\n";
    fs::permissions(root() / "build/che", fs::perms::owner_all);
  }

  const fs::path& root() const { return scratch_.path(); }
  fs::path folder() const { return root() / "results/sweep"; }
  fs::path committed() const { return root() / "results/committed/sweep"; }
  fs::path run() const { return folder() / "runs/a-run"; }

  int call(const std::string& arguments) const {
    const std::string command =
        "cd '" + root().string() + "' && scripts/committed_results.sh " + arguments + " > output.txt 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  }
  std::string output() const { return read_file(root() / "output.txt"); }

 private:
  ScratchFolder scratch_;
};

TEST_F(CommittedResults, AreWrittenAndRestoredWithoutCheckpoints) {
  ASSERT_EQ(0, call("write sweep")) << output();
  for (const char* file : {"table.md", "table.csv", "runs.csv", "agreement.md", "compare_dape_kerple.md"}) {
    EXPECT_TRUE(fs::exists(committed() / file)) << file;
  }
  EXPECT_FALSE(fs::exists(committed() / "compare_dape_alibi.md")) << "a column that is not there";
  const std::string archive = read_file(committed() / "runs.tar.xz");
  ASSERT_EQ(0, call("write sweep"));
  EXPECT_EQ(archive, read_file(committed() / "runs.tar.xz")) << "the same runs give the same bytes";
  EXPECT_EQ(2, call("restore sweep")) << "runs that are there are not replaced";
  EXPECT_TRUE(fs::exists(run() / "checkpoint.a"));
  fs::remove_all(folder());
  ASSERT_EQ(0, call("restore sweep")) << output();
  EXPECT_TRUE(fs::exists(run() / "config.yaml"));
  EXPECT_FALSE(fs::exists(run() / "checkpoint.a"));
  ASSERT_EQ(0, call("restore sweep results/beside")) << output();
  EXPECT_TRUE(fs::exists(folder().parent_path() / "beside/runs" / run().filename() / "config.yaml"));
  EXPECT_EQ(2, call("write sweep results/beside")) << "only restore takes a folder";
}

TEST_F(CommittedResults, RefuseWhatIsNotThere) {
  EXPECT_EQ(2, call("restore other"));
  expect_contains(output(), {"results/committed/other/runs.tar.xz is missing"});
  EXPECT_EQ(2, call("write other"));
  EXPECT_EQ(2, call("unpack sweep"));
  EXPECT_EQ(2, call(""));
  expect_contains(output(), {"restore NAME"});
}

}  // namespace
}  // namespace che
