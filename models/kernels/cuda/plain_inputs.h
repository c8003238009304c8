#pragma once

#include "models/kernels/cuda/abi.h"
#include "models/kernels/forms/dropout_form.h"
#include "models/kernels/forms/residual_norm_form.h"

namespace che {

// The dropout of one call as the library takes it. It has a seed for each replica, and there are at most
// kMaxDropoutReplicas.
inline CudaDropout plain_dropout(const DropoutSite& site, std::int64_t replicas) {
  CudaDropout plain{};
  for (std::int64_t r = 0; site.dropout.rate != 0 && r < replicas && r < kMaxDropoutReplicas; ++r) {
    plain.first = site.dropout.bits(r, 0, site.site);
    plain.keys[r][0] = plain.first.key[0];
    plain.keys[r][1] = plain.first.key[1];
  }
  return plain;
}

inline CudaDropoutInputs plain_inputs(const DropoutInputs& in) {
  return {.replicas = in.replicas,
          .batch = in.batch,
          .rows = in.rows,
          .width = in.width,
          .values = in.values,
          .first_token = in.site.first_token,
          .dropout = plain_dropout(in.site, in.replicas)};
}

// The residual norm's inputs likewise.
inline CudaResidualNormInputs plain_inputs(const ResidualNormInputs& in) {
  return {.replicas = in.replicas,
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
          .dropout = plain_dropout(in.site, in.replicas)};
}

}  // namespace che
