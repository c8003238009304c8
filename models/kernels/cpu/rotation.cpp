#include <vector>

#include "models/kernels/cpu/kernel_table.h"
#include "models/kernels/cpu/partition.h"
#include "models/kernels/cpu/rotation_simd.h"

namespace che::cpu {
namespace {

constexpr std::int64_t kMaxParts = 64;

void rotate(const RotationInputs& in, float* out) {
  const std::int64_t width = in.head_width;
  // (tokens, {cosine, sine}, head_width): each pair's cosine twice, its sine with both signs.
  std::vector<float> table(static_cast<std::size_t>(in.tokens * 2 * width));
  for (std::int64_t t = 0; t < in.tokens; ++t) {
    float* const cosine = table.data() + t * 2 * width;
    float* const sine = cosine + width;
    for (std::int64_t pair = 0; pair < width / 2; ++pair) {
      cosine[2 * pair] = cosine[2 * pair + 1] = in.cosine[t * width / 2 + pair];
      sine[2 * pair] = -in.sine[t * width / 2 + pair];
      sine[2 * pair + 1] = in.sine[t * width / 2 + pair];
    }
  }
  const float sign = in.backwards ? -1 : 1;
  const std::int64_t row = in.heads * width;
  Partition{in.examples, kMaxParts}.for_each([&](std::int64_t, std::int64_t example) {
    for (std::int64_t t = 0; t < in.tokens; ++t) {
      const std::int64_t at = (example * in.tokens + t) * row;
      const float* const cosine = table.data() + t * 2 * width;
      rotate_heads(in.values + at, in.heads, width, cosine, cosine + width, sign, out + at);
    }
  });
}

}  // namespace

RotationForm rotation_form() { return {.rotate = rotate}; }

}  // namespace che::cpu
