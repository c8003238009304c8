#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/settings/parameter_spec.h"

namespace che {

// The parameters of a model as a file of the format safetensors
// (https://github.com/huggingface/safetensors), which PyTorch, JAX and others read: the size of a JSON
// header, the header with name, type (F32), shape and place of each tensor, and the numbers. `values` has
// those of `specs`, one after the other. `metadata` is text by name. Equal arguments give equal bytes.
std::string safetensors(const std::vector<ParameterSpec>& specs, std::span<const float> values,
                        const std::map<std::string, std::string>& metadata);

}  // namespace che
