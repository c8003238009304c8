#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "models/ops/product/product_kernels.h"

// One instruction set, since processors without it have a good product in MKL. A lambda has not the
// instructions of the function around it, so that there is none here.
#define CHE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

namespace che {
namespace {

// std::array would ignore the attributes of a vector.
// NOLINTBEGIN(modernize-avoid-c-arrays)

// 32 bits: a float, or the two bf16 of neighbouring terms, whose products one instruction adds to a sum.
using Unit = std::uint32_t;
template <class Number>
constexpr std::int64_t kTerms = sizeof(Unit) / sizeof(Number);

constexpr std::int64_t kLanes = 16;
// 24 sums, 4 vectors of b and one of a are in registers.
constexpr std::int64_t kRows = 6, kVectors = 4, kColumns = kVectors * kLanes;
// Units of a part of a sum: 32 KiB of b, which stay in the first-level cache while rows of a pass.
constexpr std::int64_t kDepth = 128;
template <class Number>
constexpr std::int64_t kPart = kDepth* kTerms<Number>;
// Rows that share b's packed units; at least those of a tile of product.cpp, so that they are packed once.
constexpr std::int64_t kBlockRows = 43 * kRows;
// Units between two terms of packed a, a number of cache lines without factors of 2.
constexpr std::int64_t kPackedStride = (kBlockRows + kLanes - 1) / kLanes * kLanes;
static_assert(kPackedStride / kLanes % 2 == 1);
// Units between what is packed and what the cache is asked for: rows are too far apart for it to guess.
constexpr std::int64_t kAhead = 16;

__mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(count, 0, kLanes)) - 1);
}

CHE_AVX512 inline __m512 add_products(__m512 sum, __m512i a, __m512i b, float) {
  return _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), sum);
}
CHE_AVX512 inline __m512 add_products(__m512 sum, __m512i a, __m512i b, Bf16) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}

// Units of a, in bytes from `data`.
struct Rows {
  const char* data;
  std::int64_t row_stride, depth_stride;
};

// `rows` rows of the result, at most kColumns columns; b is (depth, kColumns).
template <class Number, std::int64_t rows>
CHE_AVX512 void multiply_rows(float* out, std::int64_t out_stride, Rows a, const Unit* b, std::int64_t depth,
                              std::int64_t columns, bool add) {
  __m512 sums[rows][kVectors];
#pragma GCC unroll 6
  for (std::int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) {
      sums[r][v] = _mm512_setzero_ps();
      __builtin_prefetch(out + r * out_stride + v * kLanes, 1);  // To write, in time.
    }
  }
  for (std::int64_t p = 0; p < depth; ++p, a.data += a.depth_stride, b += kColumns) {
    __m512i right[kVectors];
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) right[v] = _mm512_load_si512(b + v * kLanes);
#pragma GCC unroll 6
    for (std::int64_t r = 0; r < rows; ++r) {
      int unit = 0;
      std::memcpy(&unit, a.data + r * a.row_stride, sizeof unit);
      const __m512i left = _mm512_set1_epi32(unit);
#pragma GCC unroll 4
      for (std::int64_t v = 0; v < kVectors; ++v)
        sums[r][v] = add_products(sums[r][v], left, right[v], Number());
    }
  }
#pragma GCC unroll 6
  for (std::int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) {
      const __mmask16 mask = first_lanes(columns - v * kLanes);
      float* const to = out + r * out_stride + v * kLanes;
      const __m512 before = add ? _mm512_maskz_loadu_ps(mask, to) : _mm512_setzero_ps();
      _mm512_mask_storeu_ps(to, mask, _mm512_add_ps(before, sums[r][v]));
    }
  }
}

// Units whose terms are `stride` elements apart, in lanes that follow each other.
CHE_AVX512 inline __m512i units_across(const float* from, std::int64_t, std::int64_t, __mmask16 lanes) {
  return _mm512_maskz_loadu_epi32(lanes, from);
}
CHE_AVX512 inline __m512i units_across(const Bf16* from, std::int64_t stride, std::int64_t terms,
                                       __mmask16 lanes) {
  // Not without the masks: GCC 12 warns of the undefined vectors in its own header.
  constexpr __mmask16 kAll = 0xFFFF;
  const __m512i low = _mm512_maskz_cvtepu16_epi32(kAll, _mm256_maskz_loadu_epi16(lanes, from));
  if (terms == 1) return low;
  const __m512i high = _mm512_maskz_cvtepu16_epi32(kAll, _mm256_maskz_loadu_epi16(lanes, from + stride));
  return _mm512_or_si512(low, _mm512_maskz_slli_epi32(kAll, high, 16));
}

// Units whose terms follow each other, zeros behind the first `terms`.
CHE_AVX512 inline __m512i units_along(const float* from, std::int64_t terms) {
  return _mm512_maskz_loadu_epi32(first_lanes(terms), from);
}
CHE_AVX512 inline __m512i units_along(const Bf16* from, std::int64_t terms) {
  const auto mask = static_cast<__mmask32>((std::uint64_t{1} << std::clamp<std::int64_t>(terms, 0, 32)) - 1);
  return _mm512_maskz_loadu_epi16(mask, from);
}

// Exchanges blocks of `size` lanes beside the diagonal.
template <int size>
CHE_AVX512 inline void transpose_blocks(__m512i (&rows)[kLanes]) {
  alignas(64) std::array<std::int32_t, kLanes> lower{}, upper{};
  for (std::int32_t lane = 0; lane < kLanes; ++lane) {
    const bool is_second = (lane & size) != 0;
    lower[static_cast<std::size_t>(lane)] = is_second ? 16 + lane - size : lane;
    upper[static_cast<std::size_t>(lane)] = is_second ? 16 + lane : lane + size;
  }
  const __m512i low = _mm512_load_si512(lower.data()), high = _mm512_load_si512(upper.data());
#pragma GCC unroll 16
  for (int row = 0; row < kLanes; ++row) {
    if ((row & size) != 0) continue;
    const __m512i first = rows[row], second = rows[row + size];
    rows[row] = _mm512_permutex2var_epi32(first, low, second);
    rows[row + size] = _mm512_permutex2var_epi32(first, high, second);
  }
}

// The units of `lanes` rows or columns, up to the next multiple of kLanes with zeros, for `terms` terms:
// to (terms / kTerms, lanes), rows `to_stride` units apart.
template <class Number>
CHE_AVX512 void pack(Unit* to, std::int64_t to_stride, const Number* from, std::int64_t lane_stride,
                     std::int64_t term_stride, std::int64_t lanes, std::int64_t terms) {
  if (lane_stride == 1) {
    for (std::int64_t term = 0; term < terms;
         term += kTerms<Number>, to += to_stride, from += kTerms<Number> * term_stride) {
      for (std::int64_t lane = 0; lane < lanes; lane += kLanes) {
        for (std::int64_t ahead = 0; ahead < kTerms<Number>; ++ahead) {
          __builtin_prefetch(from + lane + (kAhead * kTerms<Number> + ahead) * term_stride);
        }
        _mm512_store_si512(to + lane,
                           units_across(from + lane, term_stride, terms - term, first_lanes(lanes - lane)));
      }
    }
    return;
  }
  constexpr std::int64_t kBlockTerms = kLanes * kTerms<Number>;
  for (std::int64_t term = 0; term < terms; term += kBlockTerms, to += kLanes * to_stride) {
    const std::int64_t left = terms - term;
    const std::int64_t units = std::min(kLanes, (left + kTerms<Number> - 1) / kTerms<Number>);
    for (std::int64_t lane = 0; lane < lanes; lane += kLanes) {
      __m512i rows[kLanes];
#pragma GCC unroll 16
      for (std::int64_t row = 0; row < kLanes; ++row) {
        rows[row] = lane + row < lanes ? units_along(from + (lane + row) * lane_stride + term, left)
                                       : _mm512_setzero_si512();
      }
      transpose_blocks<8>(rows);
      transpose_blocks<4>(rows);
      transpose_blocks<2>(rows);
      transpose_blocks<1>(rows);
#pragma GCC unroll 16
      for (std::int64_t row = 0; row < kLanes; ++row) {
        if (row < units) _mm512_store_si512(to + row * to_stride + lane, rows[row]);
      }
    }
  }
}

// NOLINTEND(modernize-avoid-c-arrays)

template <class Number>
using MultiplyRows = void (*)(float*, std::int64_t, Rows, const Unit*, std::int64_t, std::int64_t, bool);

// The product whose b's units, of the terms from `term` on and the columns from `column` on, panel(term,
// terms, column, columns) gives as (depth, kColumns).
template <class Number, class Panel>
void multiply_blocks(float* out, std::int64_t out_stride, StridedMatrix<Number> a, std::int64_t m,
                     std::int64_t n, std::int64_t k, bool add, const Panel& panel) {
  static constexpr std::array<MultiplyRows<Number>, kRows> kMultiply = {
      multiply_rows<Number, 1>, multiply_rows<Number, 2>, multiply_rows<Number, 3>,
      multiply_rows<Number, 4>, multiply_rows<Number, 5>, multiply_rows<Number, 6>};
  alignas(64) std::array<Unit, kDepth * kPackedStride> packed_a;
  if (k == 0 && !add) {
    for (std::int64_t row = 0; row < m; ++row) std::fill_n(out + row * out_stride, n, 0.0F);
  }
  for (std::int64_t term = 0; term < k; term += kPart<Number>) {
    const std::int64_t terms = std::min(kPart<Number>, k - term);
    const std::int64_t depth = (terms + kTerms<Number> - 1) / kTerms<Number>;
    for (std::int64_t row = 0; row < m; row += kBlockRows) {
      const std::int64_t rows = std::min(kBlockRows, m - row);
      const Number* const left = a.data + row * a.row_stride + term * a.column_stride;
      constexpr std::int64_t kUnit = sizeof(Unit);
      Rows units{reinterpret_cast<const char*>(left), a.row_stride * std::int64_t{sizeof(Number)}, kUnit};
      if (a.column_stride != 1 || terms % kTerms<Number> != 0) {
        pack(packed_a.data(), kPackedStride, left, a.row_stride, a.column_stride, rows, terms);
        units = {reinterpret_cast<const char*>(packed_a.data()), kUnit, kPackedStride * kUnit};
      }
      for (std::int64_t column = 0; column < n; column += kColumns) {
        const std::int64_t columns = std::min(kColumns, n - column);
        const Unit* const right = panel(term, terms, column, columns);
        for (std::int64_t r = 0; r < rows; r += kRows) {
          kMultiply[static_cast<std::size_t>(std::min(kRows, rows - r) - 1)](
              out + (row + r) * out_stride + column, out_stride,
              {units.data + r * units.row_stride, units.row_stride, units.depth_stride}, right, depth,
              columns, add || term > 0);
        }
      }
    }
  }
}

// Packs what a panel has.
template <class Number>
void pack_panel(Unit* to, const StridedMatrix<Number>& b, std::int64_t term, std::int64_t terms,
                std::int64_t column, std::int64_t columns) {
  pack(to, kColumns, b.data + term * b.row_stride + column * b.column_stride, b.column_stride, b.row_stride,
       columns, terms);
}

// Packed b has the panels of all columns for the first part of the terms, then those for the next.
std::int64_t panel_offset(std::int64_t term, std::int64_t column, std::int64_t n) {
  const std::int64_t panels = (n + kColumns - 1) / kColumns;
  return (term / kPart<float> * panels + column / kColumns) * kDepth * kColumns;
}

}  // namespace

bool has_tile_kernel() {
  static const bool has = __builtin_cpu_supports("avx512bf16") && !__builtin_cpu_is("intel");
  return has;
}

template <class Number>
void multiply_tile(float* out, std::int64_t out_stride, StridedMatrix<Number> a, StridedMatrix<Number> b,
                   std::int64_t m, std::int64_t n, std::int64_t k, bool add) {
  alignas(64) std::array<Unit, kDepth * kColumns> packed;
  multiply_blocks(out, out_stride, a, m, n, k, add,
                  [&](std::int64_t term, std::int64_t terms, std::int64_t column, std::int64_t columns) {
                    pack_panel(packed.data(), b, term, terms, column, columns);
                    return packed.data();
                  });
}

template void multiply_tile<float>(float*, std::int64_t, StridedMatrix<float>, StridedMatrix<float>,
                                   std::int64_t, std::int64_t, std::int64_t, bool);
template void multiply_tile<Bf16>(float*, std::int64_t, StridedMatrix<Bf16>, StridedMatrix<Bf16>,
                                  std::int64_t, std::int64_t, std::int64_t, bool);

std::int64_t packed_units(std::int64_t n, std::int64_t k) { return panel_offset(k + kPart<float> - 1, 0, n); }

void pack_matrix(std::uint32_t* packed, StridedMatrix<float> b, std::int64_t n, std::int64_t k) {
  for (std::int64_t term = 0; term < k; term += kPart<float>) {
    for (std::int64_t column = 0; column < n; column += kColumns) {
      pack_panel(packed + panel_offset(term, column, n), b, term, std::min(kPart<float>, k - term), column,
                 std::min(kColumns, n - column));
    }
  }
}

void multiply_packed(float* out, std::int64_t out_stride, StridedMatrix<float> a, const std::uint32_t* packed,
                     std::int64_t m, std::int64_t n, std::int64_t k, bool add) {
  multiply_blocks(out, out_stride, a, m, n, k, add,
                  [&](std::int64_t term, std::int64_t, std::int64_t column, std::int64_t) {
                    return packed + panel_offset(term, column, n);
                  });
}

}  // namespace che
