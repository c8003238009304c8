// Turns neighbouring feature pairs (a, b) of each head by the angles whose sines s and cosines c are given by
// token and pair (arXiv 2104.09864): (c a - s b, c b + s a). values (examples, tokens, heads, head_width).
//
// 8 bytes of memory traffic and 3 operations a value. A thread takes a pair.
#include "models/ops/device/gpu.h"

namespace che::gpu {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) rotate_pairs(RotationInputs in, float* out) {
  const std::int64_t pair = std::int64_t{blockIdx.x} * kThreads + thread_number();
  const std::int64_t pairs_of_head = in.head_width / 2;
  const std::int64_t pairs_of_token = in.heads * pairs_of_head;
  if (pair >= in.examples * in.tokens * pairs_of_token) return;
  const std::int64_t angle = pair / pairs_of_token % in.tokens * pairs_of_head + pair % pairs_of_head;
  const float cosine = in.cosine[angle];
  const float sine = in.backwards ? -in.sine[angle] : in.sine[angle];
  const float a = in.values[2 * pair];
  const float b = in.values[2 * pair + 1];
  out[2 * pair] = a * cosine - b * sine;
  out[2 * pair + 1] = b * cosine + a * sine;
}

int rotate(const KernelCall& call, const RotationInputs& in, float* out) {
  const std::int64_t pairs = in.examples * in.tokens * in.heads * in.head_width / 2;
  if (pairs == 0) return kKernelDone;
  return launch(&rotate_pairs, dim3(blocks(divided_up(pairs, kThreads))), dim3(kThreads), std::int64_t{0},
                call.stream, in, out);
}

}  // namespace

RotationKernels rotation_kernels() { return {.rotate = rotate}; }

}  // namespace che::gpu
