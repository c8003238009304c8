// x times the dropout's factors, those of models/ops/dropout/dropout_mask.h bit by bit. values (replicas,
// batch, rows, width).
//
// 8 bytes of memory traffic a value, and 6 operations, nearly all of them Philox's. A thread takes the values
// of one Philox block, 8 neighbours of one example, so that none is drawn twice.
#include "models/ops/device/gpu.h"

namespace che::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kGroup = 8;  // Values of a Philox block.

__global__ void __launch_bounds__(kThreads)
    times_factors(DropoutInputs in, DropoutOfCall dropout, const GpuStep* step, float* out) {
  const DropoutBits& first = dropout.first;
  const std::int64_t example = blockIdx.y;
  const std::int64_t replica = blockIdx.z;
  const std::int64_t first_value = dropout.first_token * in.width;  // Place in the dropout's example.
  const std::int64_t skipped = first_value % kGroup;
  const std::int64_t values = in.rows * in.width;
  const std::int64_t group = std::int64_t{blockIdx.x} * kThreads + thread_number();
  if (group * kGroup >= values + skipped) return;
  const std::uint32_t* const key = dropout.keys[replica % kMaxDropoutReplicas];
  const PhiloxBlock bits =
      philox(static_cast<std::uint32_t>(first_value / kGroup + group),
             first.counter[0] + static_cast<std::uint32_t>(example),
             step == nullptr ? first.counter[1] : step->dropout, first.counter[2], key[0], key[1]);
  const std::int64_t before = (replica * in.batch + example) * values;
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const std::int64_t at = group * kGroup + i - skipped;
    if (at < 0 || at >= values) continue;
    const std::uint32_t drawn = bits.words[i / 2] >> (16 * (i % 2)) & 0xffffU;
    out[before + at] = in.values[before + at] * (drawn < first.threshold ? 0 : first.kept);
  }
}

bool serves(std::int64_t replicas, std::int64_t batch) {
  constexpr std::int64_t kMaxGrid = 65535;
  return replicas <= kMaxDropoutReplicas && batch <= kMaxGrid;
}

int apply(const KernelCall& call, const DropoutInputs& in, float* out) {
  if (!serves(in.replicas, in.batch)) return kKernelNotServed;
  const std::int64_t values = in.rows * in.width;
  if (in.replicas == 0 || in.batch == 0 || values == 0) return kKernelDone;
  // One group more where the first value is within a Philox block.
  const std::int64_t groups = divided_up(values, kGroup) + 1;
  return launch(&times_factors,
                dim3(blocks(divided_up(groups, kThreads)), blocks(in.batch), blocks(in.replicas)),
                dim3(kThreads), std::int64_t{0}, call.stream, in, dropout_of_call(in.draws, in.replicas),
                call.step, out);
}

}  // namespace

DropoutKernels dropout_kernels() { return {.serves = serves, .apply = apply}; }

}  // namespace che::gpu
