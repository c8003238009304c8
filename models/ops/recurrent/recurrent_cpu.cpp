// Cells cost two to five exponentials a value of the hidden state, about a tenth of their product with the
// weights; memories read and write every vector in use once.
#include "models/ops/recurrent/recurrent_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/recurrent/recurrent_cpu.cpp"
#include <hwy/foreach_target.h>
// Behind foreach_target.h, which includes this file once for every instruction set.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "models/ops/device/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace che::HWY_NAMESPACE {
namespace {

HWY_INLINE Vector all(float x) { return hn::Set(Floats(), x); }
HWY_INLINE Vector one_minus(Vector x) { return hn::Sub(all(1), x); }

// Returns `value`, or x where x is NaN, which comparisons would hide.
HWY_INLINE Vector or_nan(Vector value, Vector x) { return hn::IfThenElse(hn::Eq(x, x), value, x); }

// 1 / (1 + exp(-x)), without overflow.
HWY_INLINE Vector sigmoid(Vector x) {
  const Floats d;
  const Vector e = hn::Exp(d, hn::Neg(hn::Abs(x)));
  return or_nan(hn::Div(hn::IfThenElse(hn::Ge(x, hn::Zero(d)), all(1), e), hn::Add(all(1), e)), x);
}

// (1 - exp(-2 abs x)) / (1 + exp(-2 abs x)) with the sign of x, and a series where that would cancel.
HWY_INLINE Vector tanh_of(Vector x) {
  const Floats d;
  const Vector magnitude = hn::Abs(x);
  const Vector e = hn::Exp(d, hn::Mul(all(-2), magnitude));
  const Vector large = hn::Div(one_minus(e), hn::Add(all(1), e));
  // x - x^3/3 + 2 x^5/15 - 17 x^7/315 + 62 x^9/2835: 2e-8 of x at 0.3.
  const Vector square = hn::Mul(x, x);
  Vector series = hn::MulAdd(square, all(62.0F / 2835), all(-17.0F / 315));
  series = hn::MulAdd(square, series, all(2.0F / 15));
  series = hn::MulAdd(square, series, all(-1.0F / 3));
  const Vector small = hn::MulAdd(hn::Mul(x, square), series, x);
  return or_nan(hn::IfThenElse(hn::Lt(magnitude, all(0.3F)), small, hn::CopySign(large, x)), x);
}

// Calls f(first column, columns) for the parts of a row.
template <class F>
HWY_INLINE void for_columns(std::int64_t width, const F& f) {
  for (std::int64_t column = 0; column < width; column += kLanes) {
    f(column, std::min(kLanes, width - column));
  }
}

void rnn(const CellStep& in) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    for_columns(in.width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const Vector a = load_part(in.gates + r * in.width + c, count);
      // A NaN stays one.
      store_part(hn::IfThenZeroElse(hn::Lt(a, hn::Zero(Floats())), a), in.hidden.row(r) + c, count);
    });
  }
}

void rnn_gradient(const CellStep& in, const CellGradient& gradient) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    for_columns(in.width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const auto is_active = hn::Gt(load_part(in.hidden.row(r) + c, count), hn::Zero(Floats()));
      store_part(hn::IfThenElseZero(is_active, load_part(gradient.d_hidden.row(r) + c, count)),
                 in.gates + r * in.width + c, count);
    });
  }
}

// The blocks of a row of an LSTM's gates.
struct LstmGates {
  float *i, *g, *f, *o;

  LstmGates(const CellStep& in, std::int64_t row)
      : i(in.gates + row * 4 * in.width), g(i + in.width), f(g + in.width), o(f + in.width) {}
};

void lstm(const CellStep& in) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const LstmGates gates(in, r);
    for_columns(in.width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const Vector input = sigmoid(load_part(gates.i + c, count));
      const Vector value = tanh_of(load_part(gates.g + c, count));
      const Vector forget = sigmoid(hn::Add(load_part(gates.f + c, count), all(1)));
      const Vector output = sigmoid(load_part(gates.o + c, count));
      const Vector cell =
          hn::MulAdd(forget, load_part(in.cell + r * in.width + c, count), hn::Mul(input, value));
      store_part(input, gates.i + c, count);
      store_part(value, gates.g + c, count);
      store_part(forget, gates.f + c, count);
      store_part(output, gates.o + c, count);
      store_part(cell, in.next_cell + r * in.width + c, count);
      store_part(hn::Mul(output, tanh_of(cell)), in.hidden.row(r) + c, count);
    });
  }
}

// x (1 - x), the derivative of a sigmoid by its value.
HWY_INLINE Vector slope(Vector x) { return hn::Mul(x, one_minus(x)); }

void lstm_gradient(const CellStep& in, const CellGradient& gradient) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const LstmGates gates(in, r);
    for_columns(in.width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const std::int64_t at = r * in.width + c;
      const Vector input = load_part(gates.i + c, count), value = load_part(gates.g + c, count);
      const Vector forget = load_part(gates.f + c, count), output = load_part(gates.o + c, count);
      const Vector bent = tanh_of(load_part(in.next_cell + at, count));
      const Vector d_hidden = load_part(gradient.d_hidden.row(r) + c, count);
      const Vector d_cell = hn::MulAdd(hn::Mul(d_hidden, output), hn::NegMulAdd(bent, bent, all(1)),
                                       load_part(gradient.d_cell + at, count));
      const Vector cell = load_part(in.cell + at, count);
      store_part(hn::Mul(hn::Mul(d_cell, value), slope(input)), gates.i + c, count);
      store_part(hn::Mul(hn::Mul(d_cell, input), hn::NegMulAdd(value, value, all(1))), gates.g + c, count);
      store_part(hn::Mul(hn::Mul(d_cell, cell), slope(forget)), gates.f + c, count);
      store_part(hn::Mul(hn::Mul(d_hidden, bent), slope(output)), gates.o + c, count);
      store_part(hn::Mul(d_cell, forget), gradient.d_cell + at, count);
    });
  }
}

void gru_reset(const CellStep& in) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    float* const z = in.gates + r * 3 * in.width;
    float* const reset = z + in.width;
    for_columns(in.width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const Vector kept = sigmoid(load_part(reset + c, count));
      store_part(sigmoid(load_part(z + c, count)), z + c, count);
      store_part(kept, reset + c, count);
      store_part(hn::Mul(kept, load_part(in.previous.row(r) + c, count)), in.reset.row(r) + c, count);
    });
  }
}

void gru(const CellStep& in) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const float* const z = in.gates + r * 3 * in.width;
    float* const n = in.gates + (r * 3 + 2) * in.width;
    for_columns(in.width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const Vector share = load_part(z + c, count);
      const Vector value = tanh_of(load_part(n + c, count));
      const Vector previous = load_part(in.previous.row(r) + c, count);
      store_part(value, n + c, count);
      store_part(hn::MulAdd(share, value, hn::Mul(one_minus(share), previous)), in.hidden.row(r) + c, count);
    });
  }
}

void gru_gradient(const CellStep& in, const CellGradient& gradient) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    float* const z = in.gates + r * 3 * in.width;
    float* const n = z + 2 * in.width;
    for_columns(in.width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const Vector share = load_part(z + c, count), value = load_part(n + c, count);
      const Vector previous = load_part(in.previous.row(r) + c, count);
      const Vector d_hidden = load_part(gradient.d_hidden.row(r) + c, count);
      store_part(hn::Mul(hn::Mul(d_hidden, hn::Sub(value, previous)), slope(share)), z + c, count);
      store_part(hn::Mul(hn::Mul(d_hidden, share), hn::NegMulAdd(value, value, all(1))), n + c, count);
      store_part(hn::Mul(d_hidden, one_minus(share)), gradient.d_hidden.row(r) + c, count);
    });
  }
}

void gru_reset_gradient(const CellStep& in, const CellGradient& gradient) {
  for (std::int64_t r = 0; r < in.rows; ++r) {
    float* const reset = in.gates + (r * 3 + 1) * in.width;
    for_columns(in.width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const Vector kept = load_part(reset + c, count);
      const Vector d_reset = load_part(gradient.d_reset + r * in.width + c, count);
      const Vector previous = load_part(in.previous.row(r) + c, count);
      add_part(hn::Mul(d_reset, kept), gradient.d_hidden.row(r) + c, count);
      store_part(hn::Mul(hn::Mul(d_reset, previous), slope(kept)), reset + c, count);
    });
  }
}

void softmax(float* values, std::int64_t count) {
  const float greatest = *std::max_element(values, values + count);
  float sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += values[i] = std::exp(values[i] - greatest);
  for (std::int64_t i = 0; i < count; ++i) values[i] /= sum;
}

// Turns the gradient of a softmax into that of its argument.
void softmax_gradient(const float* values, const float* d_values, float* d_logits, std::int64_t count) {
  float mean = 0;
  for (std::int64_t i = 0; i < count; ++i) mean += values[i] * d_values[i];
  for (std::int64_t i = 0; i < count; ++i) d_logits[i] = values[i] * (d_values[i] - mean);
}

constexpr std::int64_t kStackActions = 3;
constexpr std::int64_t kTapeActions = 5;

// The vectors in use end with one of zeros, in the room that each row has behind them.
void stack(const MemoryStep& in, const MemoryResult& result) {
  const std::int64_t width = in.width, row_size = (in.size + 1) * width;
  const std::int64_t used_after = std::min(in.size, in.used + 1);
  for (std::int64_t r = 0; r < in.rows; ++r) {
    float* const action = in.actions.row(r);
    softmax(action, kStackActions);
    const float push = action[0], pop = action[1], stay = action[2];
    const float* const m = in.memory + r * row_size;
    float* const next = result.next + r * row_size;
    const float* const written = in.written.row(r);
    for (std::int64_t i = 0; i < width; ++i) {
      const float below = in.used > 1 ? m[width + i] : 0;
      next[i] = push * written[i] + pop * below + (in.used > 0 ? stay * m[i] : 0);
    }
    const std::int64_t inner = std::max<std::int64_t>(0, in.used - 1) * width;
    for_columns(inner, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const Vector above = load_part(m + c, count), own = load_part(m + width + c, count);
      const Vector below = load_part(m + 2 * width + c, count);
      store_part(hn::MulAdd(all(push), above, hn::MulAdd(all(pop), below, hn::Mul(all(stay), own))),
                 next + width + c, count);
    });
    if (in.used > 0 && used_after > in.used) {
      for (std::int64_t i = 0; i < width; ++i) {
        next[in.used * width + i] = push * m[(in.used - 1) * width + i];
      }
    }
    std::memset(next + used_after * width, 0, static_cast<std::size_t>(width) * sizeof(float));
    std::memcpy(result.top.row(r), next, static_cast<std::size_t>(width) * sizeof(float));
  }
}

void stack_gradient(const MemoryStep& in, const MemoryGradient& gradient) {
  const std::int64_t width = in.width, row_size = (in.size + 1) * width;
  const std::int64_t used_after = std::min(in.size, in.used + 1);
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const float* const action = in.actions.row(r);
    const float push = action[0], pop = action[1], stay = action[2];
    const float* const m = in.memory + r * row_size;
    const float* const d_next = gradient.d_next + r * row_size;
    float* const d_m = gradient.d_memory + r * row_size;
    float d_action[kStackActions] = {};
    for (std::int64_t i = 0; i < width; ++i) {
      d_action[0] += d_next[i] * in.written.row(r)[i];
      gradient.d_written.row(r)[i] = push * d_next[i];
    }
    // m_{i-1} is pushed to place i, m_{i+1} popped, m_i stays.
    Vector pushed = hn::Zero(Floats()), popped = pushed, stayed = pushed;
    for_columns((used_after - 1) * width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      pushed = hn::MulAdd(load_part(m + c, count), load_part(d_next + width + c, count), pushed);
    });
    for_columns(std::max<std::int64_t>(0, in.used - 1) * width,
                [&](std::int64_t c, std::int64_t count) HWY_ATTR {
                  popped = hn::MulAdd(load_part(m + width + c, count), load_part(d_next + c, count), popped);
                });
    for_columns(in.used * width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const Vector own = load_part(d_next + c, count);
      stayed = hn::MulAdd(load_part(m + c, count), own, stayed);
      // Values beyond the last vector of the next memory have no gradient.
      const std::int64_t behind = used_after * width - (width + c);
      const Vector deeper =
          behind > 0 ? load_part(d_next + width + c, std::min(count, behind)) : hn::Zero(Floats());
      store_part(hn::MulAdd(all(push), deeper, hn::Mul(all(stay), own)), d_m + c, count);
    });
    for_columns(std::max<std::int64_t>(0, in.used - 1) * width,
                [&](std::int64_t c, std::int64_t count) HWY_ATTR {
                  add_part(hn::Mul(all(pop), load_part(d_next + c, count)), d_m + width + c, count);
                });
    d_action[0] += sum_of_lanes(pushed);
    d_action[1] = sum_of_lanes(popped);
    d_action[2] = sum_of_lanes(stayed);
    softmax_gradient(action, d_action, gradient.d_actions.row(r), kStackActions);
  }
}

// Holds a ring's vectors twice, so that those from any one on follow each other.
class Ring {
 public:
  Ring(std::int64_t size, std::int64_t width)
      : values_(static_cast<std::size_t>(2 * size * width + kLanes)) {}

  // `first` stands for the first vector, if it is given.
  void fill(const float* values, const float* first, std::int64_t size, std::int64_t width) {
    const std::size_t bytes = static_cast<std::size_t>(width) * sizeof(float);
    for (float* const copy : {values_.data(), values_.data() + size * width}) {
      std::memcpy(copy, values, static_cast<std::size_t>(size) * bytes);
      if (first != nullptr) std::memcpy(copy, first, bytes);
    }
  }
  const float* from(std::int64_t value) const { return values_.data() + value; }

 private:
  std::vector<float> values_;
};

// Gives, for each action, the vector that comes to the first place: stay, left, right, jump left, jump right.
struct Starts {
  std::int64_t of[kTapeActions];

  Starts(std::int64_t size, std::int64_t width, std::int64_t jump)
      : of{0, 1 % size * width, (size - 1) * width, jump * width, (size - jump) % size * width} {}
};

void tape(const MemoryStep& in, const MemoryResult& result) {
  const std::int64_t width = in.width, row_size = (in.size + 1) * width;
  const Starts starts(in.size, width, in.jump);
  Ring ring(in.size, width);
  for (std::int64_t r = 0; r < in.rows; ++r) {
    float* const action = in.actions.row(r);
    softmax(action, kTapeActions);
    ring.fill(in.memory + r * row_size, in.written.row(r), in.size, width);
    float* const next = result.next + r * row_size;
    for_columns(in.size * width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      Vector sum = hn::Mul(all(action[0]), load_part(ring.from(c), count));
      for (int a = 1; a < kTapeActions; ++a) {
        sum = hn::MulAdd(all(action[a]), load_part(ring.from(starts.of[a] + c), count), sum);
      }
      store_part(sum, next + c, count);
    });
    std::memcpy(result.top.row(r), next, static_cast<std::size_t>(width) * sizeof(float));
  }
}

void tape_gradient(const MemoryStep& in, const MemoryGradient& gradient) {
  const std::int64_t width = in.width, row_size = (in.size + 1) * width;
  const Starts starts(in.size, width, in.jump);
  // A vector goes where the opposite move brings it from.
  constexpr int kOpposite[kTapeActions] = {0, 2, 1, 4, 3};
  Ring ring(in.size, width);
  Ring gradients(in.size, width);
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const float* const action = in.actions.row(r);
    const float* const d_next = gradient.d_next + r * row_size;
    float* const d_m = gradient.d_memory + r * row_size;
    ring.fill(in.memory + r * row_size, in.written.row(r), in.size, width);
    gradients.fill(d_next, nullptr, in.size, width);
    Vector sums[kTapeActions];
    for (Vector& sum : sums) sum = hn::Zero(Floats());
    for_columns(in.size * width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
      const Vector own = load_part(d_next + c, count);
      Vector d_value = hn::Zero(Floats());
      for (int a = 0; a < kTapeActions; ++a) {
        sums[a] = hn::MulAdd(own, load_part(ring.from(starts.of[a] + c), count), sums[a]);
        d_value = hn::MulAdd(all(action[a]), load_part(gradients.from(starts.of[kOpposite[a]] + c), count),
                             d_value);
      }
      store_part(d_value, d_m + c, count);
    });
    std::memcpy(gradient.d_written.row(r), d_m, static_cast<std::size_t>(width) * sizeof(float));
    std::memset(d_m, 0, static_cast<std::size_t>(width) * sizeof(float));
    float d_action[kTapeActions];
    for (int a = 0; a < kTapeActions; ++a) d_action[a] = sum_of_lanes(sums[a]);
    softmax_gradient(action, d_action, gradient.d_actions.row(r), kTapeActions);
  }
}

}  // namespace

RecurrentKernels kernels() {
  return {rnn,          rnn_gradient,       lstm,  lstm_gradient,  gru_reset, gru,
          gru_gradient, gru_reset_gradient, stack, stack_gradient, tape,      tape_gradient};
}

}  // namespace che::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace che {
HWY_EXPORT(kernels);

const RecurrentKernels& cpu::recurrent_kernels() {
  static const RecurrentKernels chosen = HWY_DYNAMIC_DISPATCH(kernels)();
  return chosen;
}
}  // namespace che
#endif
