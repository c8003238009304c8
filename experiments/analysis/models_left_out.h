#pragma once

#include <string>
#include <vector>

#include "experiments/store/run_folder.h"

namespace che {

// The models outside che that have runs among `runs` and none among the `chosen` ones because a condition
// ("key=value", see RunChoice) asks for something that predictions do not have: an encoding, a learning rate.
// One line per model, with the condition. A model that was not asked for by task, seed or evaluation is none
// of them.
std::vector<std::string> models_left_out(const std::vector<RunFolder>& runs,
                                         const std::vector<RunFolder>& chosen,
                                         const std::vector<std::string>& conditions);

}  // namespace che
