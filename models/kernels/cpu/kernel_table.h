#pragma once

#include "models/kernels/forms/kernel_table.h"

namespace che {

// The operations on CPUs: vector code for one example or row (*_simd), in parallel over parts of the batch.
const KernelTable& cpu_kernels();

namespace cpu {

AttentionForm attention_form();
BiasReluForm bias_relu_form();
DropoutForm dropout_form();
ResidualNormForm residual_norm_form();
RotationForm rotation_form();
AdamForm adam_form();

}  // namespace cpu
}  // namespace che
