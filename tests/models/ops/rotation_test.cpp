#include "models/ops/rotation/rotation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/models/encodings/encoding_rig.h"
#include "tests/models/ops/fused_comparison.h"

namespace che {
namespace {

TEST(Rotation, FusedEqualsReference) {
  for (const std::int64_t width : {2, 4, 6, 8, 10, 16, 22, 32, 64}) {
    SCOPED_TRACE(width);
    const at::Tensor angles = some_numbers({5, width / 2}, 3);
    const auto operation = [&](Kernels kernels) {
      return [&, kernels](const std::vector<at::Tensor>& in) {
        return rotate(in[0], angles.sin(), angles.cos(), test_backend(kernels));
      };
    };
    expect_fused_equals_reference(operation(Kernels::kFused), operation(Kernels::kReference),
                                  {some_numbers({2, 3, 5, 3, width}, 1)}, {.value = 1e-6});
  }
}

}  // namespace
}  // namespace che
