#pragma once

#include <functional>
#include <string_view>

#include "experiments/exchange/sample_file.h"

namespace che {

// The samples that write_samples writes, in further formats. All throw Error (usage) as write_samples does.

// A file for numpy.load: for each length L the uint8 matrices input_L, output_L and mask_L, one row per
// sample; `lengths`; and `header`, the first line of the JSON lines as bytes, which the predictions' header
// repeats.
void write_npz_samples(const SampleHeader& header, const std::function<void(std::string_view)>& write);

// The layout of FLaRe, the benchmark of Butoi et al. (2025, openreview.net/forum?id=aWLQTbfFgV), for its
// programs: one string per line with blanks between its symbols (main.tok), and one label per line, 0 or 1
// (labels.txt). Only for tasks whose answer is one symbol of two.
void check_flare_samples(const SampleHeader& header);  // Throws what the other would.
void write_flare_samples(const SampleHeader& header,
                         const std::function<void(std::string_view)>& write_strings,
                         const std::function<void(std::string_view)>& write_labels);

}  // namespace che
