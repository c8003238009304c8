#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "models/settings/encoding_entry.h"

namespace che {

// What the formula of an encoding reads: one example of one replica, in double.
struct OracleInput {
  std::int64_t heads;
  std::int64_t head_width;
  std::int64_t tokens;
  bool causal;                          // Only keys up to the query are asked for.
  std::vector<double> positions;        // Of the tokens, in the layer.
  std::vector<double> input_positions;  // Of the tokens, at the embedding.
  std::vector<double> offsets;          // Distance of tokens k apart, in the layer.
  std::int64_t max_position;            // 0 for positions without a limit.
  std::int64_t trained_tokens;          // Of the longest training sequence.
  OptionValues options;                 // Every one.
  std::optional<DapeOptions> dape;
  AttentionScale scale;
  // Queries and keys as projected, and the encoding's parameters by name.
  std::function<double(std::int64_t head, std::int64_t token, std::int64_t feature)> q;
  std::function<double(std::int64_t head, std::int64_t token, std::int64_t feature)> k;
  std::function<double(const std::string& name, const std::vector<std::int64_t>& index)> parameter;
};

// An encoding written a second time from its formula, one number at a time. What is absent is zero,
// for `product` the dot product of q and k.
struct EncodingOracle {
  // Added to the logits after scaling.
  std::function<double(const OracleInput&, std::int64_t head, std::int64_t query, std::int64_t key)> bias;
  // Takes the place of q_i k_j, before scaling.
  std::function<double(const OracleInput&, std::int64_t head, std::int64_t query, std::int64_t key)> product;
  // Added to the embedding.
  std::function<double(const OracleInput&, std::int64_t token, std::int64_t feature)> embedding;
};

// By the encoding's name.
const std::map<std::string, EncodingOracle>& encoding_oracles();

// The logits (scaled, with the encoding, with DAPE where the input has it) of a head, query and key.
double oracle_logit(const EncodingOracle& oracle, const OracleInput& input, std::int64_t head,
                    std::int64_t query, std::int64_t key);

}  // namespace che
