// What translated PTX (translate.py) uses.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "tests/gpu/ptx/emulated_gpu.h"

namespace che::ptx {

struct Registration {
  Registration(const char* name, Function function);
};

enum class Space : std::uint8_t { kGlobal, kShared };

[[noreturn]] void throw_misaligned(const unsigned char* at, int bytes, int place);

// The instructions of all threads, those of a false predicate too.
inline std::int64_t executed = 0;

// Whether accesses to memory are noted, by note().
extern const bool is_counting;
void note(const unsigned char* at, unsigned bytes, Space space, int place);

template <int bytes>
void access(const unsigned char* at, Space space, int place) {
  if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0) throw_misaligned(at, bytes, place);
  if (is_counting) note(at, bytes, space, place);
}

template <class Value>
Value loaded(const unsigned char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class Value>
void stored(unsigned char* at, Value value) {
  std::memcpy(at, &value, sizeof value);
}

template <class Value>
Value shl(Value x, std::uint32_t bits) {
  return bits >= 8 * sizeof(Value) ? Value{0}
                                   : static_cast<Value>(static_cast<std::make_unsigned_t<Value>>(x) << bits);
}
template <class Value>
Value shr(Value x, std::uint32_t bits) {
  if (bits < 8 * sizeof(Value)) return static_cast<Value>(x >> bits);
  return std::is_signed_v<Value> && x < 0 ? static_cast<Value>(-1) : Value{0};
}

// Kernels shuffle within whole warps only.
inline void require_whole_warp(std::uint32_t clamp) {
  if (clamp != 31) throw std::runtime_error("a shuffle within a part of a warp");
}

// Rounds the sum down.
inline float fma_down(float a, float b, float c) {
  const double exact = static_cast<double>(a) * b + c;
  const auto near = static_cast<float>(exact);
  return near > exact ? std::nextafterf(near, -INFINITY) : near;
}

// To nearest, ties away from zero. Written again, apart from the emulation's.
inline std::uint32_t rounded_to_tf32(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return 0x7fffe000U;
  return magnitude == 0x7f800000U ? bits : (bits + 0x1000U) & 0xffffe000U;
}

// m16n8k8 by the PTX manual's tables, with whole matrices; also apart from the emulation's.
inline void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  struct Fragment {
    std::uint32_t a[4], b[2];
  };
  const Fragment mine{{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
  gpu::exchange(0xffffffffU, mine, "mma", [&](unsigned lane, const auto& of) {
    const auto real = [](std::uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000U); };
    float left[16][8], right[8][8];
    for (unsigned l = 0; l < 32; ++l) {
      const Fragment fragment = of(l);
      for (unsigned i = 0; i < 4; ++i) left[l / 4 + i % 2 * 8][l % 4 + i / 2 * 4] = real(fragment.a[i]);
      for (unsigned i = 0; i < 2; ++i) right[l % 4 + i * 4][l / 4] = real(fragment.b[i]);
    }
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned k = 0; k < 8; ++k) d[i] += left[lane / 4 + i / 2 * 8][k] * right[k][lane % 4 * 2 + i % 2];
    }
    return 0;
  });
}

}  // namespace che::ptx
