// Tests output to files, pipes, full disks and closed descriptors.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/descriptor.h"
#include "core/files.h"
#include "tests/cli/program_test.h"

namespace che {
namespace {

using OutputProgram = ProgramTest;

TEST_F(OutputProgram, SubmitsNothingWhereSlurmCanWriteNoLogs) {
  const std::string quoted = results() + "\"x";
  expect_refusal(che({"submit", small_config(), "--slurm", "--print", "-o", quoted}),
                 {"sbatch cannot write logs"});
  EXPECT_FALSE(std::filesystem::exists(quoted));
}

// A lock that cannot be taken is no full disk, on which prune makes room for one.
TEST_F(OutputProgram, PrunesNothingWhereTheFolderCannotBeLocked) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  std::filesystem::create_directory(results() + "/lock.77");
  EXPECT_EQ(1, che({"prune", results()}).exit_code);
  EXPECT_EQ(2U, contents(results(), "checkpoint.bin").size());
}

// Help and version count as commands.
TEST_F(OutputProgram, EveryCommandSaysWhenItsOutputCannotBeWritten) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto che_with = [&](const std::string& arguments, const std::string& redirections) {
    return shell(fmt::format("{} {} {}", CHE_PROGRAM, arguments, redirections));
  };
  const std::string run = fmt::format("run {} -o {}", small_config(), results());
  for (const std::string& arguments :
       {std::string("--help"), std::string("--version"), std::string("run --help"), std::string("list tasks"),
        run + " --list", run + " --dry-run", "status " + results(), "table " + results(),
        "check " + small_config(), std::string("sample even_pairs --length 500 --count 1000"),
        std::string("encoding alibi --length 100")}) {
    SCOPED_TRACE(arguments);
    const Outcome full = che_with(arguments, "> /dev/full");
    EXPECT_EQ(1, full.exit_code);
    const bool samples = arguments.starts_with("sample");
    expect_contains(full.output,
                    {samples ? "che: cannot write samples" : "che: cannot write to standard output"});
    EXPECT_EQ(1, che_with(arguments, ">&-").exit_code) << "with its output closed";
    EXPECT_EQ(1, che_with(arguments, ">&- 2>&-").exit_code) << "with both closed";
    // A reader that stops early is no error.
    const std::string read_a_byte = "bash -c 'set -o pipefail; {} {} | head -c 1 > /dev/null'";
    EXPECT_EQ(0, shell(fmt::format(fmt::runtime(read_a_byte), CHE_PROGRAM, arguments)).exit_code);
  }
  // Lost progress lines are no error.
  EXPECT_EQ(0, che_with(run + " axes.seed=[1]", "> /dev/full").exit_code);
  EXPECT_EQ(0, che_with(run + " axes.seed=[2]", ">&-").exit_code);
  for (const auto& [file, content] : everything(results())) {
    if (file.starts_with("lock.")) {
      EXPECT_TRUE(content.starts_with("free\nhost ")) << "progress in " << content;
    }
  }
}

// A pipe stays a pipe.
TEST_F(OutputProgram, OutputsGoIntoPipesAndStandardOutput) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(0, ::mkfifo(pipe.c_str(), 0600));
  // Both ends are open, so that neither side waits for the other.
  const Descriptor both(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(0, che({"table", results(), "--format", "csv", "--output", pipe}).exit_code);
  std::string text(1 << 16, 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(both.value(), text.data(), text.size()), 0)));
  EXPECT_TRUE(text.starts_with("level,task,")) << text;
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  const Outcome table = che({"table", results(), "--format", "csv", "--output", "/dev/stdout"});
  EXPECT_EQ(table.output, text);
  const Outcome piped = shell(
      fmt::format("{{ {} report {} --output /dev/stdout || echo failed; }} | cat", CHE_PROGRAM, results()));
  const std::string page = output_of({"report", results(), "--output", "/dev/stdout"});
  EXPECT_EQ(piped.output, page);
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>")) << page.substr(0, 100);
  EXPECT_TRUE(page.ends_with("</html>\n")) << "no names of files in a page";
  EXPECT_EQ(page.find("table.csv"), std::string::npos) << "no link to what is not written";
  expect_refusal(che({"plot", results(), "--output", pipe}), {"--output", pipe});
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  for (const std::string arguments :
       {"table {}", "table {} --output /dev/full", "report {} --output /dev/full", "report {}",
        "plot {} --format svg --figure map", "time {}"}) {
    const Outcome full =
        shell(fmt::format("{} {} > /dev/full", CHE_PROGRAM, fmt::format(fmt::runtime(arguments), results())));
    EXPECT_EQ(1, full.exit_code) << arguments << ": " << full.output;
  }
}

// One rule for every command (core/files.h): a link that the user names is followed, and one that the program
// finds in a folder under the name of its own file is replaced.
TEST_F(OutputProgram, FollowsTheLinksThatTheUserNamesAndNoOthers) {
  namespace fs = std::filesystem;
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto link_to = [&](const std::string& target, const std::string& name) {
    fs::create_symlink(folder_ / target, folder_ / name);
    return (folder_ / name).string();
  };
  for (const std::string command : {"table", "status", "report", "bundle"}) {
    SCOPED_TRACE(command);
    const std::string ending = command == "bundle" ? ".tar.zst" : ".html";
    const std::string target = write(command + "-target", "old");
    const std::string link = link_to(target, command + ending);
    output_of({command, results(), "-o", link});
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_NE("old", read_file(target));
    const std::string dangling = link_to(command + "-new", command + "-dangling" + ending);
    output_of({command, results(), "-o", dangling});
    EXPECT_TRUE(fs::is_symlink(dangling));
    EXPECT_TRUE(fs::is_regular_file(folder_ / (command + "-new")));
    const auto runs = everything(results());
    const std::string into_run =
        link_to("results/" + contents(results(), "evaluation.csv").begin()->first, command + "-run" + ending);
    expect_refusal(che({command, results(), "-o", into_run}), {into_run, "lies in the folder of a run"});
    EXPECT_EQ(runs, everything(results()));
  }
  const std::string precious = write("precious.txt", "old");
  const std::vector<std::pair<std::vector<std::string>, std::string>> writers = {
      {{"export", "quick/v1", "--task", "even_pairs", "--lengths", "41", "--samples", "64"},
       "even_pairs.jsonl"},
      {{"plot", results(), "--figure", "map", "--format", "svg"}, "map.svg"},
      {{"corpus", "make", precious, "--split", "1,0,0"}, "corpus.json"},
      {{"run", small_config()}, "runs"}};
  for (auto [command, file] : writers) {
    SCOPED_TRACE(file);
    command.insert(command.end(), {"-o", link_to("absent", file + "-dangling")});
    EXPECT_NE(0, che(command).exit_code);
    EXPECT_FALSE(fs::exists(folder_ / "absent"));
    fs::create_directory(folder_ / (file + "-folder"));
    command.back() = link_to(file + "-folder", file + "-link");
    if (file.ends_with("l") || file.ends_with("g")) link_to(precious, file + "-folder/" + file);
    output_of(command);
    EXPECT_TRUE(fs::is_symlink(command.back()));
    EXPECT_TRUE(fs::exists(folder_ / (file + "-folder") / file));
    EXPECT_FALSE(fs::is_symlink(folder_ / (file + "-folder") / file));
    EXPECT_EQ("old", read_file(precious));
    // `unpack` makes a folder, and none is there.
    expect_refusal(che({"unpack", (folder_ / "bundle-target").string(), "-o", command.back()}),
                   {"is there already"});
  }
}

TEST_F(OutputProgram, ShowsNoControlCharacters) {
  const std::string config = write("named.yaml",
                                   "name: small\ndescription: \"red \\e[31m\"\nbase: {training: {steps: 1}}\n"
                                   "axes:\n  task: [even_pairs]\n  encoding: [rope]\n");
  const std::string checked = output_of({"check", config});
  expect_contains(checked, {"red \\x1b[31m"});
  const std::string missing = output_of({"table", (folder_ / "a\x1b[31mb").string()}, 2);
  expect_contains(missing, {"a\\x1b[31mb"});
  EXPECT_EQ(std::string::npos, (checked + missing).find('\x1b'));
}

}  // namespace
}  // namespace che
