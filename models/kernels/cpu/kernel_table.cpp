#include "models/kernels/cpu/kernel_table.h"

namespace che {

const KernelTable& cpu_kernels() {
  static const KernelTable table{.attention = cpu::attention_form(),
                                 .bias_relu = cpu::bias_relu_form(),
                                 .dropout = cpu::dropout_form(),
                                 .residual_norm = cpu::residual_norm_form(),
                                 .rotation = cpu::rotation_form(),
                                 .adam = cpu::adam_form()};
  return table;
}

}  // namespace che
