#pragma once

#include <vector>

#include "experiments/plan/cell_key.h"

namespace che {

// The labels as a figure has room for them: a setting is named by the last part of its key path, such as
// dropout for training.dropout, unless that would name two settings of these labels.
std::vector<EncodingLabel> short_labels(std::vector<EncodingLabel> labels);

}  // namespace che
