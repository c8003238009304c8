#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"
#include "models/ops/device/kernel_call.h"

namespace che {

// How matrix products are rounded. choose_precision() replaces kAuto.
enum class Precision : std::uint8_t { kFp32, kTf32, kBf16, kAuto };

// These return the words that configs have for them.
const std::string& precision_name(Precision precision);
const std::string& kernels_name(Kernels kernels);

// The limits of ExecutionConfig::memory_gib.
inline constexpr double kMinMemoryGib = 0.01;
inline constexpr double kMaxMemoryGib = 1e6;

// How runs are computed; changes no result beyond rounding, which in TF32 is that of 10 bits. bf16, with 8
// bits, is part of a run's identity.
struct ExecutionConfig {
  std::string device = "cpu";  // See device_choice().
  // The GPUs that worker processes get, by their places among those that are visible; empty for all.
  std::vector<std::int64_t> devices = {};
  Kernels kernels = Kernels::kFused;
  std::int64_t replicas = 1;       // Runs of one cell that train in lock-step; see kAutoReplicas.
  std::int64_t threads = 1;        // A job's threads.
  std::int64_t micro_batch = 0;    // Examples that a training step takes at once; 0: its batch.
  double checkpoint_seconds = 60;  // Between two checkpoints.
  double memory_gib = 2;           // Memory that evaluation may use for activations.
  // On a GPU TF32 has operands with 10 bits of mantissa. bf16 has 8, in those of the linear layers; what else
  // multiplies matrices on a GPU does so in TF32 then.
  Precision precision = Precision::kFp32;
  // Whether a GPU replays training steps of fused kernels and whole batches as CUDA graphs; the same bits.
  bool graphs = true;

  void visit_fields(FieldVisitor& visit);
  std::optional<ConfigProblem> problem() const;
  bool has_bf16() const { return precision == Precision::kBf16; }
  // Whether a GPU replays training steps.
  bool replays_steps() const { return graphs && kernels == Kernels::kFused && micro_batch == 0; }
};

// A CPU with what changes its rounding: "cpu", "cpu (bf16)" or "cpu (micro-batches of 16)".
std::string cpu_text(const ExecutionConfig& execution);

// ExecutionConfig::replicas that choose_replicas() is to choose, "auto" in configs.
inline constexpr std::int64_t kAutoReplicas = 0;

// The meaning of ExecutionConfig::device.
struct DeviceChoice {
  enum class Kind : std::uint8_t { kCpu, kCuda, kAuto };  // kAuto: a GPU where there is one.
  Kind kind;
  // The GPU's number among those that are visible; "cuda" leaves it open.
  std::optional<std::int64_t> number = {};

  // Whether it is a GPU where these are visible.
  bool is_gpu(const std::vector<std::string>& visible) const {
    return kind == Kind::kCuda || (kind == Kind::kAuto && !visible.empty());
  }
};

// Throws Error for another text than cpu, cuda, auto and cuda:0, cuda:1, ...
DeviceChoice device_choice(std::string_view text);

// The GPUs that the workers of a run use, by their places in `visible`: none where it computes on the CPU, or
// where none is visible.
std::vector<std::int64_t> gpus_of(const ExecutionConfig& execution, const std::vector<std::string>& visible);

}  // namespace che
