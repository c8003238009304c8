#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/training/selftest.h"
#include "models/ops/device/backend.h"

namespace che {

// An operation with its inputs on the host.
struct SelftestOperation {
  std::string name;
  std::vector<at::Tensor> inputs;
  // Its result on what holds the inputs. Gradients of those that ask for them are compared, too.
  std::function<at::Tensor(const std::vector<at::Tensor>& inputs, const Backend& backend)> apply;
  double operations = 0;  // Forward, nominal.
  double bytes = 0;       // Forward.
  bool has_tf32 = false;
  // Changes its inputs, which are the results then.
  bool is_in_place = false;
};

// Attention and the other operations of a layer, the embedding and the loss, of `batch` sequences.
std::vector<SelftestOperation> sequence_operations(const SelftestPlan& plan, std::int64_t tokens,
                                                   std::int64_t batch);

// An update of `size` parameters.
SelftestOperation adam_operation(std::int64_t size);

}  // namespace che
