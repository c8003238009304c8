#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "experiments/results/attention_bias.h"
#include "plots/gnuplot/figure_format.h"

namespace che {

// A gnuplot script that draws one query over all keys into `file` in a figure format (see
// figure_formats), as Fig. 1 of arXiv 2405.14722: one panel per head, layer by layer, with the logits A, the
// bias B and the adapted bias.
std::string attention_bias_query_script(const AttentionBias& bias, std::int64_t query,
                                        const FigureFormat& format, const std::filesystem::path& file);

// The same for the adapted bias of every query and key, as one heat map per head. Many tokens are averaged in
// square blocks.
std::string attention_bias_map_script(const AttentionBias& bias, const FigureFormat& format,
                                      const std::filesystem::path& file);

}  // namespace che
