// x times the dropout's factors, those of models/kernels/forms/dropout.h bit by bit. values (replicas, batch,
// rows, width).
//
// 8 bytes of memory traffic a value, and 6 operations, nearly all of them Philox's. A thread takes the values
// of one Philox block, 8 neighbours of one example, so that none is drawn twice.
#include "models/kernels/cuda/functions.h"
#include "models/kernels/cuda/philox.h"

namespace che::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kGroup = 8;  // Values of a Philox block.

__global__ void __launch_bounds__(kThreads)
    times_factors(CudaDropoutInputs in, const CudaStep* step, float* out) {
  const DropoutBits& first = in.dropout.first;
  const std::int64_t example = blockIdx.y;
  const std::int64_t replica = blockIdx.z;
  const std::int64_t first_value = in.first_token * in.width;  // Of the values, within the dropout's example.
  const std::int64_t skipped = first_value % kGroup;
  const std::int64_t values = in.rows * in.width;
  const std::int64_t group = std::int64_t{blockIdx.x} * kThreads + thread_number();
  if (group * kGroup >= values + skipped) return;
  const std::uint32_t* const key = in.dropout.keys[replica % kMaxDropoutReplicas];
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

}  // namespace

int dropout_serves(std::int64_t replicas, std::int64_t batch) {
  constexpr std::int64_t kMaxGrid = 65535;
  return replicas <= kMaxDropoutReplicas && batch <= kMaxGrid ? kCudaDone : kCudaNotServed;
}

int dropout(const CudaCall* call, const CudaDropoutInputs* in, float* out) {
  if (dropout_serves(in->replicas, in->batch) != kCudaDone) return kCudaNotServed;
  const std::int64_t values = in->rows * in->width;
  if (in->replicas == 0 || in->batch == 0 || values == 0) return kCudaDone;
  // One group more where the first value is within a Philox block.
  const std::int64_t groups = divided_up(values, kGroup) + 1;
  return launch(&times_factors,
                dim3(blocks(divided_up(groups, kThreads)), blocks(in->batch), blocks(in->replicas)),
                dim3(kThreads), std::int64_t{0}, call->stream, *in, call->step, out);
}

}  // namespace che::gpu
