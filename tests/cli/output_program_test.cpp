// What che writes, and where to: standard output, pipes, full disks, terminals.
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

TEST_F(OutputProgram, SaysWhenItsOutputCannotBeWritten) {
  const std::string command =
      fmt::format("{} list tasks > /dev/full 2> {}", CHE_PROGRAM, output_file().string());
  const int status = std::system(command.c_str());
  EXPECT_EQ(1, WEXITSTATUS(status));
  EXPECT_NE(std::string::npos, read_file(output_file()).find("che: cannot write to standard output"));
}

// Whichever command it is, help and version too.
TEST_F(OutputProgram, EveryCommandSaysWhenItsOutputCannotBeWritten) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const auto shell = [&](const std::string& arguments, const std::string& redirections) {
    const std::string command = fmt::format("{} {} {}", CHE_PROGRAM, arguments, redirections);
    return WEXITSTATUS(std::system(fmt::format("exec 2> {}; {}", output_file().string(), command).c_str()));
  };
  const std::string run = fmt::format("run {} -o {}", small_config(), results());
  for (const std::string& arguments :
       {std::string("--help"), std::string("--version"), std::string("run --help"), run + " --list",
        run + " --dry-run", "status " + results(), "table " + results(), "check " + small_config(),
        std::string("sample even_pairs --length 500 --count 1000"),
        std::string("encoding alibi --length 100")}) {
    EXPECT_EQ(1, shell(arguments, "> /dev/full")) << arguments;
    EXPECT_NE(std::string::npos, read_file(output_file()).find("che: cannot write ")) << arguments;
    EXPECT_EQ(1, shell(arguments, ">&-")) << arguments << " with its output closed";
    EXPECT_EQ(1, shell(arguments, ">&- 2>&-")) << arguments << " with both closed";
    EXPECT_EQ(0, shell(fmt::format("{} | head -c 1", arguments), "> /dev/null")) << arguments;
    // A reader that has enough ends nothing.
    EXPECT_EQ(
        0, WEXITSTATUS(std::system(
               fmt::format("bash -c 'set -o pipefail; {} {} | head -c 1 > /dev/null'", CHE_PROGRAM, arguments)
                   .c_str())))
        << arguments;
  }
  // Progress is no result.
  EXPECT_EQ(0, shell(run + " axes.seed=[1]", "> /dev/full"));
  EXPECT_EQ(0, shell(run + " axes.seed=[2]", ">&-"));
  for (const auto& [file, content] : everything(results())) {
    if (file.starts_with("lock.")) {
      EXPECT_TRUE(content.starts_with("free\nhost ")) << "progress in " << content;
    }
  }
}

// Writes into what is no regular file, which then is what it was.
TEST_F(OutputProgram, OutputsGoIntoPipesAndStandardOutput) {
  ASSERT_EQ(0, che({"run", small_config(), "-o", results()}).exit_code);
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(0, ::mkfifo(pipe.c_str(), 0600));
  // Both ends, so that neither side waits for the other.
  const Descriptor both(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(0, che({"table", results(), "--format", "csv", "--output", pipe}).exit_code);
  std::string text(1 << 16, 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(both.value(), text.data(), text.size()), 0)));
  EXPECT_TRUE(text.starts_with("level,task,")) << text;
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  const Outcome table = che({"table", results(), "--format", "csv", "--output", "/dev/stdout"});
  EXPECT_EQ(table.output, text);
  const Outcome page = che({"report", results(), "--output", "/dev/stdout"});
  EXPECT_EQ(0, page.exit_code) << page.output;
  EXPECT_TRUE(page.output.starts_with("<!DOCTYPE html>")) << page.output.substr(0, 100);
  EXPECT_TRUE(page.output.ends_with("</html>\n")) << "no names of files in a page";
  expect_refusal(che({"plot", results(), "--output", pipe}), {"--output", pipe});
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  for (const std::string arguments :
       {"table {}", "table {} --output /dev/full", "report {} --output /dev/full", "report {}",
        "plot {} --format svg --figure map", "time {}"}) {
    const std::string command =
        fmt::format("{} {} > /dev/full 2> {}", CHE_PROGRAM, fmt::format(fmt::runtime(arguments), results()),
                    output_file().string());
    EXPECT_EQ(1, WEXITSTATUS(std::system(command.c_str()))) << arguments << ": " << read_file(output_file());
  }
}

TEST_F(OutputProgram, ShowsNoControlCharacters) {
  const std::string config = write("named.yaml",
                                   "name: small\ndescription: \"red \\e[31m\"\nbase: {training: {steps: 1}}\n"
                                   "axes:\n  task: [even_pairs]\n  encoding: [rope]\n");
  const Outcome checked = che({"check", config});
  EXPECT_EQ(0, checked.exit_code) << checked.output;
  expect_contains(checked.output, {"red \\x1b[31m"});
  const Outcome missing = che({"table", (folder_ / "a\x1b[31mb").string()});
  EXPECT_EQ(2, missing.exit_code);
  expect_contains(missing.output, {"a\\x1b[31mb"});
  EXPECT_EQ(std::string::npos, (checked.output + missing.output).find('\x1b'));
}

}  // namespace
}  // namespace che
