#include "models/ops/product/product.h"

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "models/ops/product/product_kernels.h"

// The BLAS and the thread control of MKL, which LibTorch's CPU library contains. Matrices are column-major.
extern "C" {
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
// Its operands are bf16. Uses AVX512_BF16 or AMX; converts the operands where the processor has neither.
void gemm_bf16bf16f32_(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                       const int* k, const float* alpha, const che::Bf16* a, const int* lda,
                       const che::Bf16* b, const int* ldb, const float* beta, float* c, const int* ldc);
int MKL_Set_Num_Threads_Local(int threads);
}

namespace che {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// MKL's products depend on the alignment of their operands unless it is asked for reproducible ones before
// its first product. A user's own setting stands.
const bool asked_for_reproducible_products = ::setenv("MKL_CBWR", "AUTO,STRICT", 0) == 0;
// Attention weights far from the query are subnormal numbers, which slow down some processors, and count as
// 0. A thread has this setting from the one that starts it.
const bool flushes_subnormal_numbers = at::globalContext().setFlushDenormal(true);

// While it exists, MKL computes with one thread where this thread calls it.
class OneThread {
 public:
  OneThread() : before_(MKL_Set_Num_Threads_Local(1)) {}
  ~OneThread() { MKL_Set_Num_Threads_Local(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

void gemm(const char* ta, const char* tb, int m, int n, int k, const float* a, int lda, const float* b,
          int ldb, float beta, float* c, int ldc) {
  const float one = 1;
  sgemm_(ta, tb, &m, &n, &k, &one, a, &lda, b, &ldb, &beta, c, &ldc);
}
void gemm(const char* ta, const char* tb, int m, int n, int k, const double* a, int lda, const double* b,
          int ldb, double beta, double* c, int ldc) {
  const double one = 1;
  dgemm_(ta, tb, &m, &n, &k, &one, a, &lda, b, &ldb, &beta, c, &ldc);
}
void gemm(const char* ta, const char* tb, int m, int n, int k, const Bf16* a, int lda, const Bf16* b, int ldb,
          float beta, float* c, int ldc) {
  const float one = 1;
  gemm_bf16bf16f32_(ta, tb, &m, &n, &k, &one, a, &lda, b, &ldb, &beta, c, &ldc);
}

// Writes a b to `out` (m, n), or adds it, in the calling thread.
template <class Number, class T>
void multiply(T* out, std::int64_t out_stride, StridedMatrix<Number> a, StridedMatrix<Number> b,
              std::int64_t m, std::int64_t n, std::int64_t k, Write write) {
  if constexpr (!std::is_same_v<Number, double>) {
    if (has_tile_kernel()) return multiply_tile(out, out_stride, a, b, m, n, k, write == Write::kAdd);
  }
  const auto orientation = [](const StridedMatrix<Number>& x) { return x.column_stride == 1 ? "N" : "T"; };
  // For one row or column BLAS asks for the stride that a matrix without gaps has.
  const auto leading_stride = [](const StridedMatrix<Number>& x, std::int64_t rows, std::int64_t columns) {
    return static_cast<int>(x.column_stride == 1 ? std::max(x.row_stride, columns)
                                                 : std::max(x.column_stride, rows));
  };
  // Rows in memory are columns to BLAS: it computes the transpose, b^T a^T.
  gemm(orientation(b), orientation(a), static_cast<int>(n), static_cast<int>(m), static_cast<int>(k), b.data,
       leading_stride(b, k, n), a.data, leading_stride(a, m, k), write == Write::kAdd ? T{1} : T{0}, out,
       static_cast<int>(out_stride));
}

// Matrices of equal shape, one of whose strides is 1.
struct Matrices {
  at::Tensor values;                  // (..., rows, columns)
  std::vector<std::int64_t> offsets;  // From the first matrix to each, in elements.
  std::int64_t row_stride, column_stride;

  // `x` with its leading dimensions expanded to `leading`.
  Matrices(const at::Tensor& x, at::IntArrayRef leading) {
    const auto fits = [&](std::int64_t one, std::int64_t other) {
      return x.stride(one) == 1 && x.stride(other) >= std::max<std::int64_t>(1, x.size(one));
    };
    const at::Tensor laid_out = fits(-1, -2) || fits(-2, -1) ? x : x.contiguous();
    std::vector<std::int64_t> shape = leading.vec();
    shape.insert(shape.end(), {x.size(-2), x.size(-1)});
    values = laid_out.expand(shape);
    row_stride = laid_out.stride(-2);
    column_stride = laid_out.stride(-1);
    offsets = {0};
    for (std::size_t d = 0; d < leading.size(); ++d) {
      std::vector<std::int64_t> further;
      for (const std::int64_t offset : offsets) {
        for (std::int64_t i = 0; i < leading[d]; ++i) {
          further.push_back(offset + i * values.stride(static_cast<std::int64_t>(d)));
        }
      }
      offsets = std::move(further);
    }
  }

  // Returns the part of a matrix that begins at an element.
  template <class Number>
  StridedMatrix<Number> from(std::int64_t matrix, std::int64_t row, std::int64_t column) const {
    const auto* const data = static_cast<const Number*>(values.const_data_ptr());
    return {data + offsets[static_cast<std::size_t>(matrix)] + row * row_stride + column * column_stride,
            row_stride, column_stride};
  }
};

// How a product of (m, k) and (k, n) is cut. Sizes were chosen by time: with one thread, blocks of this size
// cost at most 4 % of a product, mostly less than 1 %.
struct Tiles {
  std::int64_t rows, columns;  // Size of a tile of the result.
  std::int64_t inner;          // Terms of a sum that one call adds up.

  Tiles(std::int64_t m, std::int64_t n, std::int64_t k)
      : rows(m), columns(n), inner(std::max<std::int64_t>(1, k)) {
    constexpr std::int64_t kInner = 512;
    const std::int64_t longer = std::max(m, n);
    if (longer >= 256) {
      (m >= n ? rows : columns) = std::clamp<std::int64_t>(longer / 2 / 128 * 128, 128, 256);
    } else if (k >= 2 * kInner) {
      inner = kInner;
    }
  }
};

std::int64_t blocks(std::int64_t size, std::int64_t block) { return (size + block - 1) / block; }

// Writes to matrices of contiguous rows, each `out_stride` elements behind the one before.
template <class Operand, class T>
void matrix_product(const Matrices& a, const Matrices& b, T* out, std::int64_t out_stride, Write write) {
  const std::int64_t m = a.values.size(-2), k = a.values.size(-1), n = b.values.size(-1);
  const auto matrices = static_cast<std::int64_t>(a.offsets.size());
  if (m == 0 || n == 0 || matrices == 0) return;
  const Tiles tile(m, n, k);
  const std::int64_t row_tiles = blocks(m, tile.rows), column_tiles = blocks(n, tile.columns);
  const std::int64_t parts = std::max<std::int64_t>(1, blocks(k, tile.inner));
  // Sums of the parts behind the first: (matrices, parts - 1, m, n).
  std::vector<T> sums(static_cast<std::size_t>(matrices * (parts - 1) * m * n));
  const auto compute = [&](std::int64_t item) {
    const std::int64_t part = item % parts;
    const std::int64_t column = item / parts % column_tiles * tile.columns;
    const std::int64_t row = item / parts / column_tiles % row_tiles * tile.rows;
    const std::int64_t matrix = item / parts / column_tiles / row_tiles;
    const std::int64_t first = part * tile.inner;
    T* const result =
        part == 0 ? out + matrix * out_stride : sums.data() + (matrix * (parts - 1) + part - 1) * m * n;
    multiply(result + row * n + column, n, a.from<Operand>(matrix, row, first),
             b.from<Operand>(matrix, first, column), std::min(tile.rows, m - row),
             std::min(tile.columns, n - column), std::min(tile.inner, k - first),
             part == 0 ? write : Write::kReplace);
  };
  for_each_in_parallel(matrices * row_tiles * column_tiles * parts, compute);
  for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
    for (std::int64_t part = 1; part < parts; ++part) {
      const T* const sum = sums.data() + (matrix * (parts - 1) + part - 1) * m * n;
      for (std::int64_t i = 0; i < m * n; ++i) out[matrix * out_stride + i] += sum[i];
    }
  }
}

bool is_real(const at::Tensor& x) { return x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble; }
bool has_tiles(const at::Tensor& x) { return x.is_cpu() && is_real(x); }

// Multiplies tensors; `leading` has the sizes of the dimensions before those of the matrices, which is one
// dimension of both where LibTorch multiplies.
void multiply_into(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, at::IntArrayRef leading,
                   Write write) {
  RECORD_FUNCTION("che::product", {});
  if (!has_tiles(out)) {
    at::Tensor result = out;
    const bool is_rounded = a.scalar_type() == at::kBFloat16;
    if (write == Write::kReplace) {
      is_rounded ? at::bmm_out(result, a, b, at::kFloat) : at::bmm_out(result, a, b);
    } else {
      is_rounded ? at::baddbmm_out(result, result, a, b, at::kFloat) : at::baddbmm_out(result, result, a, b);
    }
    return;
  }
  const std::int64_t out_stride = leading.size() == 1 ? out.stride(0) : out.size(-2) * out.size(-1);
  const Matrices left(a, leading), right(b, leading);
  if (out.scalar_type() == at::kDouble) {
    matrix_product<double>(left, right, out.mutable_data_ptr<double>(), out_stride, write);
  } else if (a.scalar_type() == at::kBFloat16) {
    matrix_product<Bf16>(left, right, out.mutable_data_ptr<float>(), out_stride, write);
  } else {
    matrix_product<float>(left, right, out.mutable_data_ptr<float>(), out_stride, write);
  }
}

std::vector<std::int64_t> leading_shape(const at::Tensor& a, const at::Tensor& b) {
  const auto leading = [](const at::Tensor& x) {
    return x.sizes().slice(0, static_cast<std::size_t>(x.dim() - 2));
  };
  return at::infer_size(leading(a), leading(b));
}

at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b) {
  const std::vector<std::int64_t> leading = leading_shape(a, b);
  std::vector<std::int64_t> shape = leading;
  shape.insert(shape.end(), {a.size(-2), b.size(-1)});
  const bool is_double = a.scalar_type() == at::kDouble;
  const at::Tensor out = at::empty(shape, a.options().dtype(is_double ? at::kDouble : at::kFloat));
  multiply_into(out, a, b, leading, Write::kReplace);
  return out;
}

class Products : public torch::autograd::Function<Products> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& a, at::TensorList bs,
                               Operands operands) {
    variable_list saved{as_operand(a, operands)}, results;
    for (const at::Tensor& b : bs) {
      saved.push_back(as_operand(b, operands));
      results.push_back(matrix_product(saved.front(), saved.back()));
    }
    context->save_for_backward(std::move(saved));
    return results;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& a = saved.front();
    const Operands operands = a.scalar_type() == at::kBFloat16 ? Operands::kBf16 : Operands::kFp32;
    variable_list results(saved.size() + 1);
    at::Tensor& d_a = results.front();
    for (std::size_t i = 1; i < saved.size(); ++i) {
      const at::Tensor d_out = as_operand(gradients[i - 1], operands), b = saved[i].transpose(-1, -2);
      if (context->needs_input_grad(0)) {
        if (d_a.defined()) {
          multiply_into(d_a, d_out, b, leading_shape(d_out, b), Write::kAdd);
        } else {
          d_a = matrix_product(d_out, b);
        }
      }
      if (context->needs_input_grad(i)) {
        results[i] = at::sum_to(matrix_product(a.transpose(-1, -2), d_out), saved[i].sizes());
      }
    }
    if (d_a.defined()) d_a = at::sum_to(d_a, a.sizes());
    return results;
  }
};

}  // namespace

at::Tensor as_operand(const at::Tensor& x, Operands operands) {
  const bool is_rounded = operands == Operands::kBf16 && x.scalar_type() == at::kFloat;
  return is_rounded ? x.detach().to(at::kBFloat16) : x;
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b, Operands operands) {
  return products(a, b, operands).front();
}

std::vector<at::Tensor> products(const at::Tensor& a, at::TensorList bs, Operands operands) {
  const auto is_served = [&](const at::Tensor& b) {
    if (!is_real(a) || a.scalar_type() != b.scalar_type() || a.device() != b.device()) return false;
    return a.is_cpu() || (a.dim() == 3 && b.dim() == 3 && a.size(0) == b.size(0));
  };
  if (std::ranges::all_of(bs, is_served)) return Products::apply(a, bs, operands);
  std::vector<at::Tensor> results;
  for (const at::Tensor& b : bs) results.push_back(at::matmul(a, b));
  return results;
}

void multiply_here(float* out, std::int64_t out_stride, MatrixRows a, MatrixRows b, std::int64_t m,
                   std::int64_t n, std::int64_t k, Write write) {
  multiply<float>(out, out_stride, {a.data, a.stride, 1}, {b.data, b.stride, 1}, m, n, k, write);
}

void for_each_in_parallel(std::int64_t items, const std::function<void(std::int64_t item)>& work) {
  at::parallel_for(0, items, 1, [&](std::int64_t begin, std::int64_t end) {
    const OneThread one_thread;
    for (std::int64_t item = begin; item < end; ++item) work(item);
  });
}

at::Tensor affine(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b, Operands operands) {
  return affine_each(x, w, b.defined() ? at::TensorList(b) : at::TensorList(), operands).front();
}

std::vector<at::Tensor> affine_each(const at::Tensor& x, at::TensorList ws, at::TensorList bs,
                                    Operands operands) {
  std::vector<at::Tensor> results = products(x.reshape({x.size(0), -1, x.size(-1)}), ws, operands);
  std::vector<std::int64_t> shape = x.sizes().vec();
  for (std::size_t i = 0; i < results.size(); ++i) {
    shape.back() = ws[i].size(2);
    results[i] = (bs.empty() ? results[i] : results[i] + bs[i].unsqueeze(1)).view(shape);
  }
  return results;
}

at::Tensor affine_in_front(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b) {
  return product(w.transpose(1, 2), x) + b.unsqueeze(2);
}

void write_product(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, Write write) {
  if (!out.select(0, 0).is_contiguous()) {
    throw Error("write_product: the rows of each matrix of the result are to follow each other without gaps",
                ErrorKind::kRuntime);
  }
  multiply_into(out, a, b, a.sizes().slice(0, 1), write);
}

}  // namespace che
