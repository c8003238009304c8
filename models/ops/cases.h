#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/ops/device/backend.h"

namespace che {

// An operation with inputs on the host: for checks of a device, of gradients, and for timing.
struct OperationCase {
  std::string name;
  std::vector<at::Tensor> inputs;
  // Its result on the device that holds the inputs. Gradients of those that ask for them are compared, too.
  std::function<at::Tensor(const std::vector<at::Tensor>& inputs, const Backend& backend)> apply;
  double operations = 0;  // Forward, nominal.
  double bytes = 0;       // Forward.
  bool has_tf32 = false;
  // Changes its inputs, which are the results then.
  bool is_in_place = false;
};

// The sizes of the paper's model.
struct CaseSizes {
  std::int64_t heads = 8;
  std::int64_t head_width = 32;
  std::int64_t hidden = 64;  // The width of DAPE's f.
};

// Attention and the other operations of a layer, the embedding, the loss and recurrent networks, of `batch`
// sequences.
std::vector<OperationCase> sequence_cases(const CaseSizes& sizes, std::int64_t tokens, std::int64_t batch);

// An update of `size` parameters.
OperationCase adam_case(std::int64_t size);

}  // namespace che
