#pragma once

#include "models/kernels/cuda/abi.h"
#include "models/kernels/forms/residual_norm_form.h"

namespace che {

// The residual norm's inputs as the library takes them. Where there is dropout, it has a seed for each
// replica, and there are at most kMaxDropoutReplicas.
inline CudaResidualNormInputs plain_inputs(const ResidualNormInputs& in) {
  CudaResidualNormInputs plain{.replicas = in.replicas,
                               .batch = in.batch,
                               .rows = in.rows,
                               .width = in.width,
                               .x = in.x,
                               .y = in.y,
                               .y_bias = in.y_bias,
                               .scale = in.scale,
                               .offset = in.offset,
                               .first_token = in.site.first_token,
                               .epsilon = in.epsilon,
                               .dropout = {}};
  const Dropout& dropout = in.site.dropout;
  for (std::int64_t r = 0; dropout.rate != 0 && r < in.replicas && r < kMaxDropoutReplicas; ++r) {
    plain.dropout.first = dropout.bits(r, 0, in.site.site);
    plain.dropout.keys[r][0] = plain.dropout.first.key[0];
    plain.dropout.keys[r][1] = plain.dropout.first.key[1];
  }
  return plain;
}

}  // namespace che
