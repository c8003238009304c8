#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "experiments/attention_bias.h"

namespace che {

// A gnuplot script that draws one query over all keys into `file` in a figure format (see
// figure_formats), as Fig. 1 of arXiv 2405.14722: a panel a head, layer by layer, with the logits A, the
// bias B and the adapted bias.
std::string attention_bias_query_script(const AttentionBias& bias, std::int64_t query,
                                        std::string_view format, const std::filesystem::path& file);

// Likewise the adapted bias of every query and key as a heat map a head. Many tokens are averaged in
// square blocks.
std::string attention_bias_map_script(const AttentionBias& bias, std::string_view format,
                                      const std::filesystem::path& file);

}  // namespace che
