// The bias by running sums of a vector of queries (PairValues::sums), and its gradient. Included once for
// every instruction set.
#if defined(CHE_MODELS_OPS_ATTENTION_RUNNING_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CHE_MODELS_OPS_ATTENTION_RUNNING_SUMS_INL_H_
#undef CHE_MODELS_OPS_ATTENTION_RUNNING_SUMS_INL_H_
#else
#define CHE_MODELS_OPS_ATTENTION_RUNNING_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/ops/attention/attention_simd.h"
#include "models/ops/device/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums whose value of side, row and key is at side * rows * keys + row * row_step + key * key_step.
class RunningSums {
 public:
  // The heads' and the hidden layer's.
  static RunningSums of_heads(const AttentionExample& in, std::int64_t first) {
    return {in, first, in.sums, in.heads, in.keys, 1};
  }
  static RunningSums of_hidden(const AttentionExample& in, std::int64_t first) {
    return {in, first, in.hidden_sums, in.mlp->hidden, 1, in.mlp->hidden};
  }

  bool defined() const { return left_ != nullptr; }

  // The values at a key. In causal attention, those of later keys are some that the mask hides.
  HWY_INLINE Vector at(std::int64_t row, std::int64_t key) const {
    const Floats d;
    const std::int64_t of_key = row * row_step_ + key * key_step_;
    const Vector left = hn::Sub(of_queries(kLeft, row), hn::Set(d, left_[of_key]));
    if (right_ == nullptr) return left;
    const Vector right = hn::Sub(hn::Set(d, right_[of_key]), of_queries(kRight, row));
    return hn::IfThenElse(before(key), right, left);
  }

  // Adds the gradients of at(row, key), for keys first .. first + count - 1, to the keys' sums in `sums`,
  // which lie like the values. Those of the queries stay here until add_queries().
  template <class GradientOfKey>
  HWY_INLINE void add(std::int64_t row, std::int64_t first, std::int64_t count,
                      const GradientOfKey& gradient_of, float* sums) {
    const Floats d;
    Vector of_left = of_queries(kLeftGradient, row);
    Vector of_right = of_queries(kRightGradient, row);
    for (std::int64_t key = first; key < first + count; ++key) {
      const std::int64_t of_key = row * row_step_ + key * key_step_;
      const Vector gradient = gradient_of(key);
      const auto is_right = before(key);
      const Vector left = right_ == nullptr ? gradient : hn::IfThenZeroElse(is_right, gradient);
      sums[of_key] -= sum_of_lanes(left);
      of_left = hn::Add(of_left, left);
      if (right_ == nullptr) continue;
      const Vector right = hn::IfThenElseZero(is_right, gradient);
      sums[right_ - left_ + of_key] += sum_of_lanes(right);
      of_right = hn::Sub(of_right, right);
    }
    hn::StoreU(of_left, d, place(kLeftGradient, row));
    hn::StoreU(of_right, d, place(kRightGradient, row));
  }
  void add_queries(float* sums) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t i = 0; i < count_; ++i) {
        const std::int64_t of_query = row * row_step_ + (token_ + i) * key_step_;
        sums[of_query] += *place(kLeftGradient, row, i);
        if (right_ != nullptr) sums[right_ - left_ + of_query] += *place(kRightGradient, row, i);
      }
    }
  }

 private:
  // What is kept of the queries, by row.
  enum Kept : std::uint8_t { kLeft, kRight, kLeftGradient, kRightGradient, kKept };

  RunningSums(const AttentionExample& in, std::int64_t first, const float* sums, std::int64_t rows,
              std::int64_t row_step, std::int64_t key_step)
      : left_(sums),
        right_(in.causal || sums == nullptr ? nullptr : sums + rows * in.keys),
        rows_(sums == nullptr ? 0 : rows),
        row_step_(row_step),
        key_step_(key_step),
        token_(in.keys - in.queries + first),
        count_(std::min(kLanes, in.queries - first)),
        kept_(static_cast<std::size_t>(kKept * rows_ * kLanes)) {
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t i = 0; i < count_; ++i) {
        const std::int64_t of_query = row * row_step_ + (token_ + i) * key_step_;
        *place(kLeft, row, i) = left_[of_query];
        if (right_ != nullptr) *place(kRight, row, i) = right_[of_query];
      }
    }
  }

  const float* place(Kept kept, std::int64_t row, std::int64_t lane = 0) const {
    return kept_.data() + (kept * rows_ + row) * kLanes + lane;
  }
  float* place(Kept kept, std::int64_t row, std::int64_t lane = 0) {
    return kept_.data() + (kept * rows_ + row) * kLanes + lane;
  }
  HWY_INLINE Vector of_queries(Kept kept, std::int64_t row) const {
    return hn::LoadU(Floats(), place(kept, row));
  }

  // The queries that come before a key.
  HWY_INLINE hn::Mask<Floats> before(std::int64_t key) const {
    const std::int64_t lanes = std::clamp<std::int64_t>(key - token_, 0, kLanes);
    return hn::FirstN(Floats(), static_cast<std::size_t>(lanes));
  }

  const float* left_;
  const float* right_;
  std::int64_t rows_, row_step_, key_step_;
  std::int64_t token_;  // The first query's place.
  std::int64_t count_;
  std::vector<float> kept_;  // (kKept, rows, kLanes)
};

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
