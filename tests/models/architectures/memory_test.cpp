// Evaluations of long sequences: memory by what LibTorch's allocators hand out.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiments/learn/limits.h"
#include "models/settings/encoding_entry.h"
#include "tests/models/encodings/encoding_models.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

// A decoder of one layer; "windowed_LABEL" has a window.
RunConfig long_config(std::string label) {
  const bool is_windowed = label.starts_with("windowed_");
  if (is_windowed) label.erase(0, label.find('_') + 1);
  RunConfig config = small_config(label);
  if (is_windowed) config.encoding.window = {.reach = 100, .heads = 1};
  config.model.shape().layers = 1;
  config.evaluation.last_length = 4096;
  if (config.encoding.name == "learned") config.encoding.set_options({{"rows", "5000"}});
  return config;
}

class LongSequences : public testing::TestWithParam<std::string> {};

// The decoder's forms of all encodings at contiguous positions.
std::vector<std::string> decoders() {
  std::vector<std::string> labels{"pre_norm_decoder_fire", "decoder_dape_kerple", "decoder_dape_fire",
                                  "decoder_dape_fox", "decoder_dape_v2_kerple"};
  for (const std::string& name : Registry<EncodingEntry>::instance().names())
    labels.push_back("decoder_" + name);
  return labels;
}

TEST_P(LongSequences, TakeMemoryInProportionToTheirLength) {
  const c10::NoGradGuard no_grad;
  const RunConfig config = long_config(GetParam());
  const auto model = initialised(config, {3});
  // Twice as many logits, and as many windows of a sequence, at twice the length.
  const auto bytes = [&](std::int64_t tokens) {
    const at::Tensor ids = some_tokens(1, tokens);
    return static_cast<double>(peak_tensor_bytes([&] { forward(*model, config, ids, tokens); }));
  };
  const double shorter = bytes(2304);
  EXPECT_LE(bytes(4608), 2.2 * shorter);
}

// Whole attention has gradients, blocks of queries have none.
TEST_P(LongSequences, HaveTheValuesOfShortOnesPieceByPiece) {
  RunConfig config = long_config(GetParam());
  if (config.encoding.name == "fire" && !config.encoding.dape) config.encoding.set_options({{"hidden", "4"}});
  const auto model = initialised(config, {3, 4});
  constexpr std::int64_t kTokens = 2061;
  const at::Tensor ids = some_tokens(1, kTokens);
  const at::Tensor whole = forward(*model, config, ids, kTokens).detach();
  const c10::NoGradGuard no_grad;
  EXPECT_EQ("", difference(forward(*model, config, ids, kTokens), whole, 2e-5));
}

INSTANTIATE_TEST_SUITE_P(Encodings, LongSequences, testing::ValuesIn(decoders()),
                         [](const auto& label) { return label.param; });

// The window of a block's queries is theirs, beside a bias that is computed block by block and one of sums.
INSTANTIATE_TEST_SUITE_P(Windows, LongSequences,
                         testing::Values("windowed_decoder_fire", "windowed_decoder_fox",
                                         "windowed_decoder_dape_fox", "windowed_decoder_cope",
                                         "windowed_decoder_relative", "windowed_decoder_dape_v2_kerple"),
                         [](const auto& label) { return label.param; });

// The scale of a block's queries is theirs.
INSTANTIATE_TEST_SUITE_P(Scales, LongSequences,
                         testing::Values("decoder_ssmax_cope", "decoder_ssmax_relative"),
                         [](const auto& label) { return label.param; });

}  // namespace
}  // namespace che
