#pragma once

#include <string>
#include <vector>

#include "experiments/store/run_folder.h"
#include "experiments/store/run_rows.h"

namespace che {

// The content of a TensorBoard event file with the scalars training/{loss,accuracy,gradient_norm} over steps
// and evaluation/{accuracy,loss} over lengths. `start` is when training began, in seconds since 1970.
//
// The file is TFRecord (each record: length, its masked CRC32C, data, its masked CRC32C) of Event messages
// (tensorflow/core/util/event.proto). It is a function of the rows alone, so that it can be replaced whole.
std::string tensorboard_events(const std::vector<MetricsRow>& metrics,
                               const std::vector<EvaluationRow>& evaluation, double start);

// Replaces the run's event file by one with these rows, of which evaluation's are those that the config asks
// for. Does nothing unless the config asks for the file. Throws Error (runtime) when the disk refuses.
void write_tensorboard(const RunFolder& run, const std::vector<MetricsRow>& metrics,
                       const std::vector<EvaluationRow>& evaluation, const RunStatus& status);

}  // namespace che
