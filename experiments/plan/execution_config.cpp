#include "experiments/plan/execution_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace che {
namespace {

constexpr std::int64_t kMaxGpus = 16;  // In one machine.

// Every text that names a device; behind the first three, GPU 0, 1, ...
const std::vector<std::string>& device_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"cpu", "cuda", "auto"};
    for (std::int64_t number = 0; number < kMaxGpus; ++number) all.push_back(fmt::format("cuda:{}", number));
    return all;
  }();
  return names;
}

const std::vector<std::string>& precision_names() {
  static const std::vector<std::string> names = {"fp32", "tf32", "bf16", "auto"};
  return names;
}

const std::vector<std::string>& kernels_names() {
  static const std::vector<std::string> names = {"fused", "reference"};
  return names;
}

}  // namespace

std::string cpu_text(const ExecutionConfig& execution) {
  std::vector<std::string> parts;
  if (execution.has_bf16()) parts.push_back(precision_name(execution.precision));
  if (execution.kernels == Kernels::kReference) parts.emplace_back("reference kernels");
  if (execution.micro_batch > 0) parts.push_back(fmt::format("micro-batches of {}", execution.micro_batch));
  return parts.empty() ? "cpu" : fmt::format("cpu ({})", fmt::join(parts, ", "));
}

const std::string& precision_name(Precision precision) {
  return precision_names().at(static_cast<std::size_t>(precision));
}

const std::string& kernels_name(Kernels kernels) {
  return kernels_names().at(static_cast<std::size_t>(kernels));
}

void ExecutionConfig::visit_fields(FieldVisitor& visit) {
  visit.choice({"device", "what computes: the CPU, a GPU, or a GPU where there is one"}, device,
               device_names());
  visit.integer_list({"devices", "GPUs that worker processes get, of those that are visible"}, devices, 0,
                     kMaxGpus - 1);
  visit.choice({"kernels", "which implementation of the model's operations"}, kernels, kernels_names());
  visit.integer({.name = "replicas",
                 .help = "runs of one cell that train in lock-step; auto: as many as suit the device",
                 .zero_word = "auto"},
                replicas, 1, 1'024);
  visit.integer({"threads", "threads of a job"}, threads, 1, 1'024);
  visit.integer({.name = "micro_batch",
                 .help = "examples that a training step takes at once, summing their gradients; whole: all",
                 .zero_word = "whole"},
                micro_batch, 1, 1'000'000);
  visit.real({"checkpoint_seconds", "seconds between two checkpoints"}, checkpoint_seconds, 0, 1e6);
  visit.real({"memory_gib", "GiB that evaluation may use for activations"}, memory_gib, kMinMemoryGib,
             kMaxMemoryGib);
  if (has_bf16()) visit.role(Role::kCell);
  visit.choice({"precision", "of matrix products: tf32 is for GPUs, bf16 for linear layers"}, precision,
               precision_names());
  visit.role(Role::kExecution);
  visit.boolean(
      {"graphs",
       "whether a GPU replays training steps as CUDA graphs, where kernels are fused and batches whole"},
      graphs);
}

std::optional<ConfigProblem> ExecutionConfig::problem() const {
  const DeviceChoice choice = device_choice(device);
  if (precision == Precision::kTf32 && choice.kind == DeviceChoice::Kind::kCpu) {
    return ConfigProblem{{"execution.precision", "execution.device"},
                         "tf32 is for GPUs; set fp32, bf16 or auto, or another device"};
  }
  if (devices.empty() || (choice.kind != DeviceChoice::Kind::kCpu && !choice.number)) return std::nullopt;
  return ConfigProblem{
      {"execution.devices", "execution.device"},
      fmt::format("a list of GPUs goes with device cuda or auto, which leave open the GPU; got "
                  "device {}; leave out devices, or set device to cuda",
                  device)};
}

DeviceChoice device_choice(std::string_view text) {
  const std::vector<std::string>& names = device_names();
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    throw Error(fmt::format("execution.device: got {}; allowed: {}", text, fmt::join(names, ", ")));
  }
  constexpr std::int64_t kNamesWithoutNumber = 3;
  const std::int64_t number = found - names.begin() - kNamesWithoutNumber;
  if (number >= 0) return {DeviceChoice::Kind::kCuda, number};
  using enum DeviceChoice::Kind;
  if (text == "cpu") return {kCpu};
  return {text == "cuda" ? kCuda : kAuto};
}

std::vector<std::int64_t> gpus_of(const ExecutionConfig& execution, const std::vector<std::string>& visible) {
  const DeviceChoice choice = device_choice(execution.device);
  if (!choice.is_gpu(visible) || visible.empty()) return {};
  if (choice.number) return {*choice.number};
  if (!execution.devices.empty()) return execution.devices;
  std::vector<std::int64_t> all(visible.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace che
