// The kernels of the embedding on the emulated GPU against plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "models/ops/device/gpu.h"
#include "models/ops/device/kernel_table.h"
#include "tests/gpu/kernel_rig.h"

namespace che {
namespace {

constexpr double kBound = 1e-6;  // Of the largest value.

struct Shape {
  std::int64_t replicas, batch, tokens, symbols, width;
};

// Widths beside a multiple of 32, one part, several, and as many as there may be, more symbols than warps,
// examples of one token.
constexpr Shape kShapes[] = {{1, 1, 1, 1, 1},   {2, 3, 7, 5, 33},    {3, 70, 11, 19, 64},
                             {1, 130, 1, 3, 8}, {1, 2, 40, 40, 257}, {1, 130, 40, 3, 8}};

// A batch of symbols, of which the kernels read all but the first of each example.
struct Batch {
  explicit Batch(const Shape& wanted) : shape(wanted) {
    RandomStream random(3, Purpose::kData);
    for (std::int64_t i = 0; i < shape.batch * (shape.tokens + 1); ++i) {
      // The last symbol does not occur, but where it is the only one.
      const auto occurring = static_cast<std::uint64_t>(std::max<std::int64_t>(1, shape.symbols - 1));
      ids.push_back(static_cast<std::int64_t>(random.below(occurring)));
    }
  }

  EmbeddingInputs inputs() const {
    return {.replicas = shape.replicas,
            .batch = shape.batch,
            .tokens = shape.tokens,
            .symbols = shape.symbols,
            .width = shape.width,
            .ids = ids.data() + 1,
            .id_stride = shape.tokens + 1};
  }

  std::int64_t table_values() const { return shape.replicas * shape.symbols * shape.width; }
  std::int64_t out_values() const { return shape.replicas * shape.batch * shape.tokens * shape.width; }

  // Calls `use` with the places of a value in the table and in the result.
  template <class Use>
  void for_every_value(const Use& use) const {
    std::size_t out = 0;
    for (std::int64_t r = 0; r < shape.replicas; ++r) {
      for (std::int64_t b = 0; b < shape.batch; ++b) {
        for (std::int64_t t = 0; t < shape.tokens; ++t) {
          const std::int64_t id = ids[static_cast<std::size_t>(b * (shape.tokens + 1) + t + 1)];
          for (std::int64_t c = 0; c < shape.width; ++c) {
            use(static_cast<std::size_t>((r * shape.symbols + id) * shape.width + c), out++);
          }
        }
      }
    }
  }

  Shape shape;
  std::vector<std::int64_t> ids;
};

TEST(EmbeddingKernel, CopiesTheRowsOfSymbols) {
  for (const Shape& shape : kShapes) {
    const Batch batch(shape);
    std::vector<float> table = some_values(batch.table_values(), 1);
    table[0] = NAN;
    std::vector<float> expected = unwritten(batch.out_values());
    batch.for_every_value(
        [&](std::size_t of_table, std::size_t of_out) { expected[of_out] = table[of_table]; });
    const Results got = in_every_schedule(
        {{"out", unwritten(batch.out_values())}}, [&](const KernelCall& call, Results& results) {
          const EmbeddingInputs in = batch.inputs();
          return cuda_kernels().embedding.forward(call, in, table.data(), results[0].values.data());
        });
    expect_near({{"out", expected}}, got, 0);
  }
}

TEST(EmbeddingKernel, SumsTheRowsOfEachSymbol) {
  for (const Shape& shape : kShapes) {
    const Batch batch(shape);
    const EmbeddingInputs in = batch.inputs();
    const std::vector<float> d_out = some_values(batch.out_values(), 1);
    std::vector<double> sums(static_cast<std::size_t>(batch.table_values()));
    batch.for_every_value([&](std::size_t of_table, std::size_t of_out) { sums[of_table] += d_out[of_out]; });
    const Results got = in_every_schedule(
        {{"d_table", unwritten(batch.table_values())}}, [&](const KernelCall& call, Results& results) {
          return cuda_kernels().embedding.backward(call, in, d_out.data(), results[0].values.data());
        });
    expect_near({{"d_table", {sums.begin(), sums.end()}}}, got, kBound);
  }
}

TEST(EmbeddingKernel, WithoutTokensTheGradientIsZero) {
  const EmbeddingInputs in{
      .replicas = 2, .batch = 0, .tokens = 5, .symbols = 3, .width = 4, .ids = nullptr, .id_stride = 5};
  const Results got =
      in_every_schedule({{"d_table", unwritten(24)}}, [&](const KernelCall& call, Results& results) {
        return cuda_kernels().embedding.backward(call, in, nullptr, results[0].values.data());
      });
  expect_near({{"d_table", std::vector<float>(24)}}, got, 0);
}

TEST(EmbeddingKernel, ServesAsManySymbolsAsSharedMemoryHasRoomFor) {
  EXPECT_TRUE(cuda_kernels().embedding.serves(64, gpu::kMaxSharedBytes / 1024));
  EXPECT_FALSE(cuda_kernels().embedding.serves(64, gpu::kMaxSharedBytes / 1024 + 1));
  EXPECT_FALSE(cuda_kernels().embedding.serves(65536, 1));
}

}  // namespace
}  // namespace che
