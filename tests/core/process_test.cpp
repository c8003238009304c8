#include "core/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "tests/message_of.h"

namespace che {
namespace {

std::string output_of(const std::vector<std::string>& words,
                      const std::vector<std::string>& environment = {}) {
  auto [read_end, write_end] = open_pipe();
  const StartedProcess started = start_process(
      {.words = words, .descriptors = {{write_end.value(), STDOUT_FILENO}}, .environment = environment});
  EXPECT_EQ(started.error, 0);
  write_end.close();
  std::string output;
  std::array<char, 256> buffer{};
  for (ssize_t count; (count = ::read(read_end.value(), buffer.data(), buffer.size())) > 0;) {
    output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  EXPECT_EQ(wait_for_process(started.process), 0);
  return output;
}

TEST(Process, HasItsArgumentsAndTheDescriptorsItWasGiven) {
  EXPECT_EQ(output_of({"printf", "%s|", "one word", "", "*"}), "one word||*|");
}

TEST(Process, HasTheCallersEnvironmentWithWhatIsReplaced) {
  ::setenv("CHE_KEPT", "kept", 1);
  ::setenv("CHE_CHANGED", "before", 1);
  EXPECT_EQ(output_of({"sh", "-c", "echo $CHE_KEPT $CHE_CHANGED; env | grep -c ^CHE_CHANGED="},
                      {"CHE_CHANGED=after"}),
            "kept after\n1\n");
  ::unsetenv("CHE_KEPT");
  ::unsetenv("CHE_CHANGED");
}

TEST(Process, IsRunToItsEndWithWhatItWrites) {
  const ProgramOutput both = run_program({"sh", "-c", "echo words; echo problem >&2; exit 3"});
  EXPECT_EQ(both.exit_code, 3);
  EXPECT_EQ(both.output, "words\n");
  EXPECT_EQ(both.messages, "problem\n");
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}).exit_code, 128 + 9);
  EXPECT_EQ(run_program({"cat"}).output, "") << "it has an input";
  expect_error(ErrorKind::kRuntime,
               {"cannot start no-such-program-of-che: it is not on the PATH; install it"},
               [] { run_program({"no-such-program-of-che"}); });
}

// A worker must not hold another one's pipe open.
TEST(Process, HasNoOtherDescriptors) {
  const auto [read_end, write_end] = open_pipe();
  constexpr int kHigh = 100;  // No shell opens a descriptor there.
  const Descriptor high(fcntl(write_end.value(), F_DUPFD_CLOEXEC, kHigh));
  ASSERT_TRUE(high.is_open());
  const StartedProcess started =
      start_process({.words = {"test", "-e", "/proc/self/fd/" + std::to_string(high.value())}});
  EXPECT_EQ(WEXITSTATUS(wait_for_process(started.process)), 1);
}

TEST(Process, HasAProcessorWhoseKindItsNameTells) {
  EXPECT_TRUE(processor_name().empty() || processor_name().find(" (family ") != std::string::npos)
      << processor_name();
}

TEST(Process, SaysWhyItCannotBeStarted) {
  const StartedProcess started = start_process({.words = {"/nonexistent/program"}});
  EXPECT_EQ(started.error, ENOENT);
  EXPECT_EQ(started.process, 0);
}

TEST(Process, ItsEndIsAsWaitpidTells) {
  const StartedProcess failing = start_process({.words = {"sh", "-c", "exit 3"}});
  const int status = wait_for_process(failing.process);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(wait_for_process(failing.process), -1) << "it has ended";
}

}  // namespace
}  // namespace che
