#include "models/kernels/cpu/rotation_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/cpu/rotation_simd.cpp"
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

}  // namespace che
#endif
