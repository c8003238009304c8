#include "models/ops/device/partition.h"
#include "models/ops/residual_norm/residual_norm_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/residual_norm/residual_norm_cpu.cpp"
#include <hwy/foreach_target.h>
// Behind foreach_target.h, which includes this file once for every instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/ops/device/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {

// Philox4x32-10 (Salmon et al., SC 2011) on as many counters as a vector has lanes: about two instructions a
// 16-bit value, the same bits as those of dropout_factors().
using Words = hn::ScalableTag<std::uint32_t>;
using WordVector = hn::Vec<Words>;

// The high and low halves of the 64-bit products.
HWY_INLINE void multiply_wide(WordVector a, WordVector m, WordVector& high, WordVector& low) {
  const Words d;
#if HWY_TARGET == HWY_SCALAR
  const std::uint64_t product = std::uint64_t{hn::GetLane(a)} * hn::GetLane(m);
  high = hn::Set(d, static_cast<std::uint32_t>(product >> 32));
  low = hn::Set(d, static_cast<std::uint32_t>(product));
#else
  const hn::RepartitionToWide<Words> wide;
  const auto even = hn::BitCast(d, hn::MulEven(a, m));
  const auto odd = hn::BitCast(d, hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), m));
  high = hn::OddEven(odd, hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, even))));
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(wide, odd))), even);
#endif
}

// Writes 8 * Lanes values of 16 bits: those of the blocks first_block, first_block + 1, ...
HWY_INLINE void philox_bits(const DropoutBits& stream, std::uint32_t first_block, std::uint16_t* bits) {
  const Words d;
  const WordVector factor0 = hn::Set(d, 0xD2511F53U);
  const WordVector factor1 = hn::Set(d, 0xCD9E8D57U);
  WordVector c0 = hn::Iota(d, first_block);
  WordVector c1 = hn::Set(d, stream.counter[0]);
  WordVector c2 = hn::Set(d, stream.counter[1]);
  WordVector c3 = hn::Set(d, stream.counter[2]);
  std::uint32_t key0 = stream.key[0];
  std::uint32_t key1 = stream.key[1];
  for (int round = 0; round < 10; ++round) {
    WordVector high0, low0, high1, low1;
    multiply_wide(c0, factor0, high0, low0);
    multiply_wide(c2, factor1, high1, low1);
    c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, key0));
    c1 = low1;
    c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, key1));
    c3 = low0;
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  hn::StoreInterleaved4(c0, c1, c2, c3, d, reinterpret_cast<std::uint32_t*>(bits));
}

// Rows of an example in order, with their dropout's bits and room for one row.
class RowReader {
 public:
  explicit RowReader(const ResidualNormRows& in)
      : in_(in), sum_(static_cast<std::size_t>(in.width + kLanes)) {
    if (in.dropout.threshold > 0) {
      rows_a_fill_ = std::max<std::int64_t>(1, kFill / in.width);
      bits_.resize(static_cast<std::size_t>(rows_a_fill_ * in.width + kBlock + 8 * kLanes));
    }
  }

  // x + drop(y + y_bias) of `row`, zeros behind it up to a whole vector.
  HWY_INLINE float* sum(std::int64_t row) {
    seek(row);
    const Floats d;
    const float* x = in_.x + row * in_.width;
    const float* y = in_.y + row * in_.width;
    for (std::int64_t f = 0; f < in_.width; f += kLanes) {
      const std::int64_t n = in_.width - f;
      Vector added = load_part(y + f, n);
      if (in_.y_bias != nullptr) added = hn::Add(added, load_part(in_.y_bias + f, n));
      const Vector value = hn::MulAdd(added, factor(f), load_part(x + f, n));
      hn::StoreU(first_lanes(value, n), d, sum_.data() + f);
    }
    return sum_.data();
  }

  // The dropout's factors of the row that sum() was last called for.
  HWY_INLINE Vector factor(std::int64_t f) const {
    const Floats d;
    if (in_.dropout.threshold == 0) return hn::Set(d, 1.0F);
    const hn::RebindToSigned<Floats> signed_words;
    const hn::Rebind<std::uint16_t, Floats> halves;
    const auto bits = hn::PromoteTo(signed_words, hn::LoadU(halves, row_bits_ + f));
    const auto least = hn::Set(signed_words, static_cast<std::int32_t>(in_.dropout.threshold) - 1);
    return hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(bits, least)), hn::Set(d, in_.dropout.kept));
  }

 private:
  static constexpr std::int64_t kBlock = 8;    // Values of a Philox block.
  static constexpr std::int64_t kFill = 1024;  // Values drawn at once, so that no lane idles.

  HWY_INLINE void seek(std::int64_t row) {
    if (in_.dropout.threshold == 0) return;
    const std::int64_t within = row % rows_a_fill_;
    const std::int64_t first = in_.first_value + (row - within) * in_.width;
    if (within == 0) {
      const std::int64_t count = std::min(rows_a_fill_, in_.rows - row) * in_.width + first % kBlock;
      for (std::int64_t done = 0; done < count; done += kBlock * kLanes) {
        philox_bits(in_.dropout, static_cast<std::uint32_t>((first + done) / kBlock), bits_.data() + done);
      }
    }
    row_bits_ = bits_.data() + first % kBlock + within * in_.width;
  }

  const ResidualNormRows& in_;
  std::vector<float> sum_;
  std::int64_t rows_a_fill_ = 1;
  std::vector<std::uint16_t> bits_;
  const std::uint16_t* row_bits_ = nullptr;
};

void residual_norm_forward(const ResidualNormRows& in, float* out, float* moments) {
  const Floats d;
  RowReader reader(in);
  const auto width = static_cast<float>(in.width);
  for (std::int64_t row = 0; row < in.rows; ++row, out += in.width) {
    const float* z = reader.sum(row);
    if (in.sum != nullptr) std::copy_n(z, in.width, in.sum + row * in.width);
    Vector total = hn::Zero(d);
    for (std::int64_t f = 0; f < in.width; f += kLanes) total = hn::Add(total, hn::LoadU(d, z + f));
    const float mean = sum_of_lanes(total) / width;
    Vector squares = hn::Zero(d);
    for (std::int64_t f = 0; f < in.width; f += kLanes) {
      const Vector centred = first_lanes(hn::Sub(hn::LoadU(d, z + f), hn::Set(d, mean)), in.width - f);
      squares = hn::MulAdd(centred, centred, squares);
    }
    const float inverse = 1 / std::sqrt(sum_of_lanes(squares) / width + in.epsilon);
    for (std::int64_t f = 0; f < in.width; f += kLanes) {
      const std::int64_t n = in.width - f;
      const Vector normal = hn::Mul(hn::Sub(hn::LoadU(d, z + f), hn::Set(d, mean)), hn::Set(d, inverse));
      store_part(hn::MulAdd(normal, load_part(in.scale + f, n), load_part(in.offset + f, n)), out + f, n);
    }
    moments[2 * row] = mean;
    moments[2 * row + 1] = inverse;
  }
}

void residual_norm_row_gradients(const ResidualNormRows& in, const float* moments, const float* d_out,
                                 const ResidualNormRowGradients& out) {
  const Floats d;
  RowReader reader(in);
  std::vector<float> scaled(static_cast<std::size_t>(in.width + kLanes));  // d_out * scale
  const auto width = static_cast<float>(in.width);
  for (std::int64_t row = 0; row < in.rows; ++row) {
    float* normal = reader.sum(row);  // Becomes (z - mean) / deviation in place.
    const Vector mean = hn::Set(d, moments[2 * row]);
    const Vector inverse = hn::Set(d, moments[2 * row + 1]);
    const float* g = d_out + row * in.width;
    Vector sum = hn::Zero(d);
    Vector product = hn::Zero(d);
    for (std::int64_t f = 0; f < in.width; f += kLanes) {
      const std::int64_t n = in.width - f;
      const Vector value = hn::Mul(hn::Sub(hn::LoadU(d, normal + f), mean), inverse);
      const Vector gradient = load_part(g + f, n);  // Zero behind the row.
      add_part(hn::Mul(gradient, value), out.d_scale + f, n);
      add_part(gradient, out.d_offset + f, n);
      const Vector inner = hn::Mul(gradient, load_part(in.scale + f, n));
      sum = hn::Add(sum, inner);
      product = hn::MulAdd(inner, value, product);
      hn::StoreU(value, d, normal + f);
      hn::StoreU(inner, d, scaled.data() + f);
    }
    const Vector mean_gradient = hn::Set(d, sum_of_lanes(sum) / width);
    const Vector mean_product = hn::Set(d, sum_of_lanes(product) / width);
    for (std::int64_t f = 0; f < in.width; f += kLanes) {
      const std::int64_t n = in.width - f;
      const Vector centred = hn::Sub(hn::LoadU(d, scaled.data() + f), mean_gradient);
      Vector d_sum = hn::Mul(inverse, hn::NegMulAdd(hn::LoadU(d, normal + f), mean_product, centred));
      if (in.d_sum != nullptr) d_sum = hn::Add(d_sum, load_part(in.d_sum + row * in.width + f, n));
      const Vector d_added = hn::Mul(d_sum, reader.factor(f));
      store_part(d_sum, out.d_x + row * in.width + f, n);
      store_part(d_added, out.d_y + row * in.width + f, n);
      add_part(d_added, out.d_y_bias + f, n);
    }
  }
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace che {

HWY_EXPORT(residual_norm_forward);
HWY_EXPORT(residual_norm_row_gradients);

void residual_norm_forward(const ResidualNormRows& in, float* out, float* moments) {
  HWY_DYNAMIC_DISPATCH(residual_norm_forward)(in, out, moments);
}

void residual_norm_row_gradients(const ResidualNormRows& in, const float* moments, const float* d_out,
                                 const ResidualNormRowGradients& out) {
  HWY_DYNAMIC_DISPATCH(residual_norm_row_gradients)(in, moments, d_out, out);
}

namespace cpu {
namespace {

constexpr std::int64_t kPartsOfReplica = 16;

ResidualNormRows rows_of(const ResidualNormInputs& in, std::int64_t replica, std::int64_t example) {
  const auto vector_of = [&](const float* values) {
    return values == nullptr ? nullptr : values + replica * in.width;
  };
  return {.rows = in.rows,
          .width = in.width,
          .x = in.x.of(replica, example),
          .y = in.y.of(replica, example),
          .y_bias = vector_of(in.y_bias),
          .scale = vector_of(in.scale),
          .offset = vector_of(in.offset),
          .dropout = in.draws.bits(replica, example),
          .first_value = in.draws.first_token * in.width,
          .epsilon = in.epsilon,
          .sum = in.sum.data == nullptr ? nullptr : in.sum.of(replica, example),
          .d_sum = in.d_sum.data == nullptr ? nullptr : in.d_sum.of(replica, example)};
}

int forward(const KernelCall& /*call*/, const ResidualNormInputs& in, const ExampleView<float>& out,
            const ExampleView<float>& moments) {
  for (std::int64_t r = 0; r < in.replicas; ++r) {
    Partition{in.batch, kPartsOfReplica}.for_each([&](std::int64_t, std::int64_t b) {
      residual_norm_forward(rows_of(in, r, b), out.of(r, b), moments.of(r, b));
    });
  }
  return kKernelDone;
}

int backward(const KernelCall& /*call*/, const ResidualNormInputs& in,
             const ExampleView<const float>& moments, const ExampleView<const float>& d_out,
             const ResidualNormGradients& out) {
  const Partition examples{in.batch, kPartsOfReplica};
  for (std::int64_t r = 0; r < in.replicas; ++r) {
    // (parts, {y_bias, scale, offset}, width)
    std::vector<float> sums(static_cast<std::size_t>(examples.count() * 3 * in.width));
    examples.for_each([&](std::int64_t part, std::int64_t b) {
      float* const sum = sums.data() + part * 3 * in.width;
      residual_norm_row_gradients(rows_of(in, r, b), moments.of(r, b), d_out.of(r, b),
                                  {.d_x = out.d_x.of(r, b),
                                   .d_y = out.d_y.of(r, b),
                                   .d_y_bias = sum,
                                   .d_scale = sum + in.width,
                                   .d_offset = sum + 2 * in.width});
    });
    const std::vector<float> total = sum_of_parts(sums, examples.count(), 3 * in.width);
    std::copy_n(total.begin(), in.width, out.d_y_bias + r * in.width);
    std::copy_n(total.begin() + in.width, in.width, out.d_scale + r * in.width);
    std::copy_n(total.begin() + 2 * in.width, in.width, out.d_offset + r * in.width);
  }
  return kKernelDone;
}

}  // namespace

ResidualNormKernels residual_norm_kernels() {
  return {.serves = [](std::int64_t, std::int64_t, bool) { return true; },
          .forward = forward,
          .backward = backward};
}

}  // namespace cpu
}  // namespace che
#endif
