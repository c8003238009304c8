#include <vector>

#include "models/ops/device/partition.h"
#include "models/ops/rotation/rotation_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/rotation/rotation_cpu.cpp"
#include <hwy/foreach_target.h>
// Behind foreach_target.h, which includes this file once for every instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void rotate_heads(const float* heads, std::int64_t count, std::int64_t head_width, const float* cosine,
                  const float* sine, float sign, float* out) {
  for (std::int64_t head = 0; head < count; ++head, heads += head_width, out += head_width) {
    std::int64_t f = 0;
#if HWY_TARGET != HWY_SCALAR
    const auto vectors = [&](auto d) HWY_ATTR {
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
      for (; f + lanes <= head_width; f += lanes) {
        const auto x = hn::LoadU(d, heads + f);
        const auto turned = hn::Mul(hn::Reverse2(d, x), hn::Mul(hn::LoadU(d, sine + f), hn::Set(d, sign)));
        hn::StoreU(hn::MulAdd(x, hn::LoadU(d, cosine + f), turned), d, out + f);
      }
    };
    vectors(hn::ScalableTag<float>());
    vectors(hn::CappedTag<float, 8>());
    vectors(hn::CappedTag<float, 4>());
#endif
    for (; f < head_width; f += 2) {
      out[f] = heads[f] * cosine[f] + heads[f + 1] * sign * sine[f];
      out[f + 1] = heads[f + 1] * cosine[f + 1] + heads[f] * sign * sine[f + 1];
    }
  }
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace che {

HWY_EXPORT(rotate_heads);

void rotate_heads(const float* heads, std::int64_t count, std::int64_t head_width, const float* cosine,
                  const float* sine, float sign, float* out) {
  HWY_DYNAMIC_DISPATCH(rotate_heads)(heads, count, head_width, cosine, sine, sign, out);
}

namespace cpu {
namespace {

constexpr std::int64_t kMaxParts = 64;

int rotate(const KernelCall& /*call*/, const RotationInputs& in, float* out) {
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
  return kKernelDone;
}

}  // namespace

RotationKernels rotation_kernels() { return {.rotate = rotate}; }

}  // namespace cpu
}  // namespace che
#endif
