#pragma once

#include "models/kernels/forms/adam_form.h"
#include "models/kernels/forms/attention_form.h"
#include "models/kernels/forms/batch_score_form.h"
#include "models/kernels/forms/bias_relu_form.h"
#include "models/kernels/forms/dropout_form.h"
#include "models/kernels/forms/embedding_form.h"
#include "models/kernels/forms/residual_norm_form.h"
#include "models/kernels/forms/rotation_form.h"

namespace che {

// The fused operations of one kind of device, in single precision: whole batches by pointer, shape and
// stride. How a batch is cut for threads or blocks is the form's own affair; its results must not depend on
// how many there are. models/kernels/dispatch.cpp lists the tables.
struct KernelTable {
  AttentionForm attention;
  BiasReluForm bias_relu;
  DropoutForm dropout;
  ResidualNormForm residual_norm;
  RotationForm rotation;
  AdamForm adam;
  EmbeddingForm embedding{};
  BatchScoreForm batch_score{};
};

}  // namespace che
