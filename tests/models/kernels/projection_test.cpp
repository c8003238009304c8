#include "models/kernels/projection.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/models/encoding_rig.h"
#include "tests/models/kernels/fused_comparison.h"

namespace che {
namespace {

TEST(AttentionInputs, FusedEqualReference) {
  for (const std::int64_t first_query : {0, 3}) {
    SCOPED_TRACE(first_query);
    const auto operation = [&](Kernels kernels) {
      return [&, kernels](const std::vector<at::Tensor>& in) {
        const auto [q, k, v] = attention_inputs(in[0], in[1], in[2], in[3], first_query, kernels);
        return at::cat({q, k, v}, 2) / 8;
      };
    };
    expect_fused_equals_reference(operation(Kernels::kFused), operation(Kernels::kReference),
                                  {some_numbers({2, 3, 5, 12}, 1), some_numbers({2, 12, 12}, 2),
                                   some_numbers({2, 12, 12}, 3), some_numbers({2, 12, 12}, 4)});
  }
}

}  // namespace
}  // namespace che
