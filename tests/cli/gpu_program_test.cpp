// Tests commands for GPUs on a machine without one.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/program_test.h"

namespace che {
namespace {

TEST_F(ProgramTest, SaysWhatAGpuNeeds) {
  const auto with_gpus = [&](const char* visible, const std::vector<std::string>& arguments) {
    ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    Outcome outcome = che(arguments);
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    return outcome;
  };
  const Outcome none = with_gpus("", {"selftest"});
  EXPECT_EQ(3, none.exit_code);
  EXPECT_TRUE(none.output.starts_with("No GPU is visible here")) << none.output;
  expect_refusal(che({"selftest", "--device", "cpu"}), {"--device cpu", "cuda"});
  expect_refusal(che({"selftest", "--json", (folder_ / "missing" / "x.json").string()}), {"missing"});
  for (const char* device : {"cuda", "cuda:1", "auto"}) {
    expect_refusal(with_gpus("0,1", {"selftest", "--device", device}),
                   {"execution.device: ", device, "no CUDA kernels", "scripts/setup.sh cuda"});
    const std::string setting = std::string("execution.device=") + device;
    expect_refusal(with_gpus("0,1", {"run", small_config(), setting, "-o", results() + "-gpu"}),
                   {device, "no CUDA kernels"});
    EXPECT_FALSE(std::filesystem::exists(results() + "-gpu"));
  }
  const Outcome plan = with_gpus("", {"run", small_config(), "execution.device=cuda", "--dry-run"});
  EXPECT_EQ(0, plan.exit_code) << plan.output;
  expect_contains(plan.output, {"not measured"});
  expect_contains(with_gpus("", {"run", small_config(), "execution.device=auto", "--dry-run"}).output,
                  {"; device: auto, here cpu: no GPU is visible; "});
  expect_refusal(che({"submit", small_config(), "--manifest", "execution.device=cuda",
                      "execution.devices=[0,1]", "-o", results() + "-submitted"}),
                 {"execution.devices", "che run", "--gpus"});
  EXPECT_FALSE(std::filesystem::exists(results() + "-submitted"));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run"}, {"run", "--list"}, {"check"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {small_config(), "execution.precision=tf32"});
    if (command.front() == "run") words.insert(words.end(), {"-o", results() + "-tf32"});
    expect_refusal(che(words), {"execution.precision", "tf32", "GPU"});
  }
}

}  // namespace
}  // namespace che
