#include "models/ops/device/kernel_table.h"

namespace che {

const KernelTable& cpu_kernels() {
  static const KernelTable table{.attention = cpu::attention_kernels(),
                                 .bias_relu = cpu::bias_relu_kernels(),
                                 .bias_gelu = cpu::bias_gelu_kernels(),
                                 .dropout = cpu::dropout_kernels(),
                                 .residual_norm = cpu::residual_norm_kernels(),
                                 .rotation = cpu::rotation_kernels(),
                                 .adam = cpu::adam_kernels()};
  return table;
}

}  // namespace che
