// The vector code of several kernels shares this file. It is included once for every instruction set.
#if defined(CHE_MODELS_OPS_DEVICE_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CHE_MODELS_OPS_DEVICE_SIMD_INL_H_
#undef CHE_MODELS_OPS_DEVICE_SIMD_INL_H_
#else
#define CHE_MODELS_OPS_DEVICE_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
constexpr std::int64_t kLanes = hn::MaxLanes(Floats());

// The first `count` of p's values, zeros behind them.
HWY_INLINE Vector load_part(const float* p, std::int64_t count) {
  const Floats d;
  if (count >= kLanes) return hn::LoadU(d, p);
  HWY_ALIGN float padded[kLanes] = {};
  std::memcpy(padded, p, static_cast<std::size_t>(count) * sizeof(float));
  return hn::Load(d, padded);
}

HWY_INLINE void store_part(Vector v, float* p, std::int64_t count) {
  const Floats d;
  if (count >= kLanes) {
    hn::StoreU(v, d, p);
    return;
  }
  HWY_ALIGN float padded[kLanes];
  hn::Store(v, d, padded);
  std::memcpy(p, padded, static_cast<std::size_t>(count) * sizeof(float));
}

HWY_INLINE void add_part(Vector v, float* p, std::int64_t count) {
  store_part(hn::Add(load_part(p, count), v), p, count);
}

// v with zeros behind its first `count` lanes.
HWY_INLINE Vector first_lanes(Vector v, std::int64_t count) {
  const Floats d;
  return count >= kLanes ? v : hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(count)), v);
}

HWY_INLINE float sum_of_lanes(Vector v) {
  const Floats d;
  return hn::GetLane(hn::SumOfLanes(d, v));
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
