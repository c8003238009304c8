#pragma once

#include <memory>
#include <optional>

#include "models/encodings/encoding.h"

namespace che {

// An encoding whose bias DAPE may adapt, and beside which attention has a scale and a window. With a scale
// the logits A = q k / sqrt(d_head) grow with the number n of keys that a query sees, against the dispersion
// of a softmax over many keys. A query sees all tokens in an encoder and i + 1 in a decoder:
//
//   log_n   A log(n) / log(L), L the tokens of the longest training sequence (Su, kexue.fm/archives/8823)
//   ssmax   A s_h log(n), s_h learned for each head of a layer (SSMax, arXiv 2501.19399)
//
// The factor belongs to A: a bias is added to the product, and DAPE's f reads it. s_h starts from the inverse
// of the mean of log(n) over n = 1 .. L, so that training begins near the usual scale; the start is our
// choice.
//
// A window lets the first heads see the keys with |i - j| <= reach only, in tokens whatever their positions
// are (local attention, as in arXiv 2605.00768). It comes after the bias and DAPE, whose f reads every key; n
// above counts all keys.
class AttentionSettings : public Encoding {
 public:
  // Throws Error where `scale` is not kSqrtD and `trained` has fewer than two tokens.
  AttentionSettings(std::unique_ptr<Encoding> base, const std::optional<DapeOptions>& dape,
                    AttentionScale scale, AttentionWindow window, TrainedTokens trained);

  std::vector<ParameterSpec> embedding_parameters(const ModelShape& shape) const override;
  std::vector<ParameterSpec> layer_parameters(const ModelShape& shape) const override;
  void project(const ParameterView& parameters) const override;
  at::Tensor embedding(const EncodingContext& context) const override;
  at::Tensor rotate(const at::Tensor& heads, Operand operand, const EncodingContext& context) const override;
  at::Tensor logit_scale(const EncodingContext& context) const override;
  AttentionTerms attention_terms(const EncodingContext& context) const override;
  PairValues mask(const EncodingContext& context) const override;
  std::optional<EncodingTable> table(const EncodingContext& context) const override;

 private:
  std::unique_ptr<Encoding> base_;
  std::optional<DapeOptions> dape_;
  AttentionScale scale_;
  AttentionWindow window_;
  double trained_;  // Tokens.
};

}  // namespace che
