#pragma once

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "core/files.h"
#include "core/process.h"
#include "tests/contains.h"

namespace che {

struct Outcome {
  int exit_code = -1;
  std::string output;  // Standard output and standard error.
};

// Runs che in a folder of its own.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest() { std::filesystem::create_directories(folder_); }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }

  pid_t start(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{CHE_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Descriptor output(::open(output_file().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const auto [process, error] = start_process(
        {.words = words, .descriptors = {{output.value(), STDOUT_FILENO}, {output.value(), STDERR_FILENO}}});
    EXPECT_EQ(0, error);
    return process;
  }

  // Waits until the program that was started says `text`; CTest's limit ends a test that hangs.
  void wait_for(const std::string& text) const {
    while (read_file(output_file()).find(text) == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  Outcome finish(pid_t process) const {
    const int status = wait_for_process(process);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(output_file())};
  }

  Outcome che(const std::vector<std::string>& arguments) const { return finish(start(arguments)); }

  // Runs che, expects this exit code and returns what it printed.
  std::string output_of(const std::vector<std::string>& arguments, int exit_code = 0) const {
    const Outcome outcome = che(arguments);
    EXPECT_EQ(exit_code, outcome.exit_code) << outcome.output;
    return outcome.output;
  }

  // Runs a command of the shell, also while a program that was started is running.
  Outcome shell(const std::string& command) const {
    const std::filesystem::path output = folder_ / "shell.txt";
    const int status = std::system(fmt::format("{{ {}; }} > {} 2>&1", command, output.string()).c_str());
    return {WEXITSTATUS(status), read_file(output)};
  }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }

  // A sweep of two short runs; `extra` are further lines of its base.
  std::string small_config(const std::string& extra = "") const {
    return write("small.yaml",
                 "name: small\nbase:\n  model: {width: 8, layers: 1, heads: 2, ffn_multiple: 2}\n"
                 "  training: {steps: 40, batch_size: 8, last_length: 6}\n"
                 "  evaluation: {first_length: 7, last_length: 9, samples: 64}\n" +
                     extra + "axes:\n  task: [even_pairs, reverse_string]\n  encoding: [dape_kerple]\n");
  }

  std::string results() const { return (folder_ / "results").string(); }
  std::filesystem::path output_file() const { return folder_ / "output.txt"; }

  // Return the content of every file below `root` (with this name), by path.
  static std::map<std::string, std::string> everything(const std::filesystem::path& root) {
    return contents(root, "");
  }
  static std::map<std::string, std::string> contents(const std::filesystem::path& root,
                                                     const std::string& name) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.is_regular_file() && (name.empty() || entry.path().filename() == name)) {
        files[std::filesystem::relative(entry.path(), root).string()] = read_file(entry.path());
      }
    }
    return files;
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("che_program_test_{}", getpid());
};

// Expects exit code 2 and one line that has all of `parts`.
inline void expect_refusal(const Outcome& outcome, const std::vector<std::string>& parts) {
  EXPECT_EQ(2, outcome.exit_code) << outcome.output;
  EXPECT_EQ(1, std::count(outcome.output.begin(), outcome.output.end(), '\n')) << outcome.output;
  expect_contains(outcome.output, parts);
}

}  // namespace che
