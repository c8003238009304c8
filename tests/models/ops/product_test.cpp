#include "models/ops/product/product.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "models/ops/product/packed_matrix.h"
#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/ops/fused_comparison.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

struct ProductCase {
  std::vector<std::int64_t> a, b;  // Shapes.
  bool transposed_a = false, transposed_b = false;
};

std::string product_case_name(const testing::TestParamInfo<ProductCase>& info) {
  const auto text = [](const std::vector<std::int64_t>& shape) {
    std::string joined;
    for (const std::int64_t size : shape) joined += (joined.empty() ? "" : "x") + std::to_string(size);
    return joined;
  };
  return text(info.param.a) + (info.param.transposed_a ? "t" : "") + "_" + text(info.param.b) +
         (info.param.transposed_b ? "t" : "");
}

class Product : public testing::TestWithParam<ProductCase> {
 protected:
  // Operands as stored: a transposed one has its rows where the product has columns.
  static std::vector<at::Tensor> inputs() {
    const auto stored = [](const std::vector<std::int64_t>& shape, bool transposed, std::uint32_t seed) {
      const at::Tensor x = some_numbers(shape, seed);
      return transposed ? x.transpose(-1, -2).contiguous() : x;
    };
    return {stored(GetParam().a, GetParam().transposed_a, 1),
            stored(GetParam().b, GetParam().transposed_b, 2)};
  }

  static at::Tensor operand(const at::Tensor& stored, bool transposed) {
    return transposed ? stored.transpose(-1, -2) : stored;
  }
  static at::Tensor computed(const std::vector<at::Tensor>& in, Operands operands = Operands::kFp32) {
    return product(operand(in[0], GetParam().transposed_a), operand(in[1], GetParam().transposed_b),
                   operands);
  }
  static at::Tensor by_library(const std::vector<at::Tensor>& in) {
    return at::matmul(operand(in[0], GetParam().transposed_a), operand(in[1], GetParam().transposed_b));
  }
};

// Values and gradients, which one thread and two compute to the same bits.
TEST_P(Product, EqualsTheLibrarys) {
  const Operation fp32 = [](const std::vector<at::Tensor>& in) { return computed(in); };
  expect_fused_equals_reference(fp32, by_library, inputs(), {.value = 1e-3, .sum = 1e-3, .first_sum = 2});
}

// Values and gradients. bf16 has 8 bits, so that rounding an operand takes at most 2^-8 of it; each addition
// in single precision takes 2^-24 of the terms' sizes, and 2^-23 is allowed.
TEST_P(Product, OfBf16IsWithinTheBoundOfItsTerms) {
  std::vector<at::Tensor> single, exact;
  for (const at::Tensor& input : inputs()) {
    single.push_back(input.to(at::kFloat).requires_grad_());
    exact.push_back(single.back().detach().to(at::kDouble));
  }
  const at::Tensor value = computed(single, Operands::kBf16);
  ASSERT_EQ(at::kFloat, value.scalar_type());
  const at::Tensor direction = some_numbers(value.sizes().vec(), 3).to(at::kFloat);
  value.backward(direction);

  using Tensors = std::vector<at::Tensor>;
  // The value and the gradients in double, in the direction `along`.
  const auto results = [](const Tensors& operands, const at::Tensor& along) {
    Tensors leaves;
    for (const at::Tensor& x : operands) leaves.push_back(x.detach().clone().requires_grad_());
    const at::Tensor y = by_library(leaves);
    y.backward(along);
    return Tensors{y.detach(), leaves[0].grad(), leaves[1].grad()};
  };
  const Tensors expected = results(exact, direction.to(at::kDouble));
  const Tensors sizes = results({exact[0].abs(), exact[1].abs()}, direction.abs().to(at::kDouble));
  const Tensors terms =
      results({at::ones_like(exact[0]), at::ones_like(exact[1])}, at::ones_like(expected[0]));
  const Tensors found = {value.detach(), single[0].grad(), single[1].grad()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const at::Tensor bound = (0x1p-7 + 0x1p-16 + 0x1p-23 * terms[i]) * sizes[i];
    EXPECT_TRUE((found[i].to(at::kDouble) - expected[i]).abs().le(bound).all().item<bool>()) << i;
  }
}

TEST_P(Product, HasTheSameBitsWithOneThreadAndTwoAndEight) {
  std::vector<at::Tensor> single;
  for (const at::Tensor& input : inputs()) single.push_back(input.to(at::kFloat));
  for (const Operands operands : {Operands::kFp32, Operands::kBf16}) {
    std::vector<at::Tensor> values;
    for (const int threads : {1, 2, 8}) {
      at::set_num_threads(threads);
      values.push_back(computed(single, operands));
    }
    at::set_num_threads(1);
    EXPECT_TRUE(at::equal(values[0], values[1]));
    EXPECT_TRUE(at::equal(values[0], values[2]));
  }
}

// Where in memory an operand begins is an accident.
TEST_P(Product, HasTheSameBitsAtEveryAlignment) {
  const auto moved = [](const at::Tensor& x, std::int64_t by) {
    const at::Tensor room = at::empty({x.numel() + by}, at::kFloat);
    return room.slice(0, by).view(x.sizes()).copy_(x);
  };
  const std::vector<at::Tensor> in = inputs();
  for (const Operands operands : {Operands::kFp32, Operands::kBf16}) {
    const at::Tensor expected = computed({moved(in[0], 0), moved(in[1], 0)}, operands);
    for (std::int64_t by = 1; by < 16; ++by) {
      const at::Tensor found = computed({moved(in[0], by), moved(in[1], 3 * by % 16)}, operands);
      EXPECT_TRUE(at::equal(expected, found)) << by;
    }
  }
}

// A replica's product does not depend on the others.
TEST_P(Product, IsTheSameForAReplicaAlone) {
  std::vector<at::Tensor> single;
  for (const at::Tensor& input : inputs()) single.push_back(input.to(at::kFloat));
  for (const Operands operands : {Operands::kFp32, Operands::kBf16}) {
    const at::Tensor together = computed(single, operands);
    for (std::int64_t r = 0; r < together.size(0); ++r) {
      const auto of_replica = [&](const at::Tensor& x) { return x.size(0) == 1 ? x : x.narrow(0, r, 1); };
      EXPECT_TRUE(at::equal(together.narrow(0, r, 1),
                            computed({of_replica(single[0]), of_replica(single[1])}, operands)));
    }
  }
}

// Of several weights at once, one of them shared and one whose result nobody wants.
TEST(Products, HaveTheValuesAndGradientsOfEachAlone) {
  const std::vector<at::Tensor> inputs = {some_numbers({2, 40, 12}, 1), some_numbers({2, 12, 8}, 2),
                                          some_numbers({1, 12, 5}, 3), some_numbers({2, 12, 3}, 4)};
  const Operation together = [](const std::vector<at::Tensor>& in) {
    const std::vector<at::Tensor> results = products(in[0], {in[1], in[2], in[3]});
    return at::cat({results[0], results[1]}, 2) + 0 * in[3].sum();
  };
  const Operation alone = [](const std::vector<at::Tensor>& in) {
    return at::cat({at::matmul(in[0], in[1]), at::matmul(in[0], in[2])}, 2) + 0 * in[3].sum();
  };
  expect_fused_equals_reference(together, alone, inputs, {.value = 1e-3, .sum = 1e-3});
}

// One tile, rows or columns cut, or few columns of many rows, sums cut, vectors, no terms, operands that all
// replicas or a batch share.
INSTANTIATE_TEST_SUITE_P(Shapes, Product,
                         testing::Values(ProductCase{{1, 5, 7}, {1, 7, 3}}, ProductCase{{3, 1, 9}, {3, 9, 1}},
                                         ProductCase{{2, 600, 16}, {2, 16, 20}},
                                         ProductCase{{1, 16, 20}, {1, 20, 530}, true, true},
                                         ProductCase{{2, 24, 1100}, {2, 1100, 9}, true},
                                         ProductCase{{1, 300, 64}, {1, 64, 256}, false, true},
                                         ProductCase{{1, 300, 259}, {1, 259, 320}, true, true},
                                         ProductCase{{1, 4, 0}, {1, 0, 3}},
                                         ProductCase{{1, 40, 12}, {3, 12, 8}},
                                         ProductCase{{3, 12, 8}, {1, 8, 70}, true},
                                         ProductCase{{2, 5, 4, 9, 6}, {2, 1, 4, 6, 17}},
                                         ProductCase{{2, 5, 4, 9, 6}, {2, 5, 4, 6, 9}, false, true}),
                         product_case_name);

TEST(Products, CountSubnormalNumbersAs0InEveryThread) {
  at::set_num_threads(2);
  const at::Tensor small = at::full({1 << 17}, 1e-39F);
  EXPECT_EQ(0, small.mul(1e30F).count_nonzero().item<std::int64_t>());
  at::set_num_threads(1);
}

TEST(AsOperand, RoundsToTheNearestBf16AndTiesToEven) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<float, float>> cases{{1, 1},
                                                   {1 + 0x1p-8F, 1},
                                                   {1 + 0x1p-8F + 0x1p-20F, 1 + 0x1p-7F},
                                                   {-1 - 0x1.8p-7F, -1 - 0x1p-6F},
                                                   {-0.0F, -0.0F},
                                                   {std::numeric_limits<float>::max(), kInfinity},
                                                   {-kInfinity, -kInfinity}};
  for (const auto& [value, rounded] : cases) {
    const at::Tensor found = as_operand(at::full({1}, value, at::kFloat), Operands::kBf16);
    EXPECT_EQ(at::kBFloat16, found.scalar_type());
    EXPECT_EQ(rounded, found.to(at::kFloat).item<float>());
    EXPECT_EQ(std::signbit(rounded), std::signbit(found.to(at::kFloat).item<float>()));
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(as_operand(at::full({1}, nan, at::kFloat), Operands::kBf16).isnan().item<bool>());
  const at::Tensor x = at::ones({2});
  EXPECT_TRUE(as_operand(x, Operands::kFp32).is_same(x));
}

TEST(WriteProduct, ReplacesAndAdds) {
  const at::Tensor a = some_numbers({2, 700, 6}, 1).to(at::kFloat),
                   b = some_numbers({2, 6, 5}, 2).to(at::kFloat);
  const at::Tensor room = at::full({2, 800, 5}, 7, at::kFloat);
  const at::Tensor out = room.narrow(1, 50, 700);
  write_product(out, a, b, Write::kReplace);
  EXPECT_EQ("", difference(out, at::matmul(a, b), 1e-4));
  write_product(out, a, b, Write::kAdd);
  EXPECT_EQ("", difference(out, 2 * at::matmul(a, b), 1e-4));
  EXPECT_THROW(write_product(at::zeros({2, 700, 9}).narrow(2, 0, 5), a, b, Write::kReplace), Error);
  EXPECT_TRUE(room.narrow(1, 0, 50).eq(7).all().item<bool>() &&
              room.narrow(1, 750, 50).eq(7).all().item<bool>());
}

// Whatever the number of rows, the stride of the operands and the orientation.
TEST(PackedMatrix, GivesTheBitsOfOneCall) {
  for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{256, 67}, {1024, 259}, {17, 1}, {1, 33}}) {
    const at::Tensor b = some_numbers({k, n + 3}, 1).to(at::kFloat);
    const at::Tensor turned = b.t().contiguous();
    const PackedMatrix packed({b.data_ptr<float>(), n + 3}, n, k, false);
    const PackedMatrix packed_turned({turned.data_ptr<float>(), k}, n, k, true);
    for (const std::int64_t m : {1, 7, 64, 100}) {
      const at::Tensor a = some_numbers({m, k + 1}, 2).to(at::kFloat);
      const MatrixRows rows{a.data_ptr<float>() + 1, k + 1};
      for (const Write write : {Write::kReplace, Write::kAdd}) {
        const at::Tensor expected = at::ones({m, n}), out = at::ones({m, n}), out_turned = at::ones({m, n});
        for_each_in_parallel(1, [&](std::int64_t) {
          multiply_here(expected.data_ptr<float>(), n, rows, {b.data_ptr<float>(), n + 3}, m, n, k, write);
          packed.multiply(out.data_ptr<float>(), n, rows, m, write);
          packed_turned.multiply(out_turned.data_ptr<float>(), n, rows, m, write);
        });
        EXPECT_TRUE(at::equal(expected, out)) << m << ' ' << n << ' ' << k;
        EXPECT_TRUE(at::equal(expected, out_turned)) << m << ' ' << n << ' ' << k;
      }
    }
  }
}

}  // namespace
}  // namespace che
