#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/architectures/model.h"
#include "models/ops/embedding/embedding.h"

namespace che {

// The parameters of an encoder, in the order of its layers. Linear maps are y = x W + b, with names and
// layout of the reference files ("layer0.attn.wq", (in, out)).
std::vector<ParameterSpec> encoder_parameters(const ModelParts& parts);

// The benchmark's encoder (post-norm, no mask, arXiv 2305.16843), and the decoder: layer by layer
//
//   a  = LN1(x + drop(Attention(x))),  x' = LN2(a + drop(W2 relu(W1 a + b1) + b2)).
//
// and with pre_norm, the block of GPT-NeoX,
//
//   a  = x + drop(Attention(LN1(x)) + b_o),  x' = a + drop(W2 gelu(W1 LN2(a) + b1) + b2),
//
// with biases in the queries, keys and values, an embedding that is not scaled, a LayerNorm before the head
// and none of the head's biases.
//
// Every token attends to every other; where the shape is causal, to itself and those before it. The last
// layer computes its queries, projection and FFN for the tokens with an output only, and Pass::observer sees
// those queries of it.
class Encoder : public Model {
 public:
  // `parts` has an encoding.
  Encoder(ModelParts parts, std::int64_t replicas, const Backend& backend);

  void project() override;
  at::Tensor features(const at::Tensor& tokens, std::int64_t outputs, const Pass& pass) const override;
  at::Tensor head(const at::Tensor& features) const override;
  std::int64_t classes() const override { return vocabulary_.classes; }
  std::optional<AttentionSize> attention_size() const override {
    return AttentionSize{shape_.layers, shape_.heads};
  }

  // The effect of the encoding on `tokens` tokens whatever they are, in the first layer of the first replica;
  // nothing if that depends on an input.
  std::optional<EncodingTable> encoding_table(std::int64_t tokens, const Positions& positions) const;

 private:
  // A batch before its first layer, where all tokens of one symbol are the same: what is linear in their
  // vectors is computed once per symbol.
  struct EmbeddedInput {
    Embedding tokens;
    at::Tensor vectors;  // (replicas, symbols, width)
  };

  bool is_pre_norm() const { return shape_.block == BlockForm::kPreNorm; }

  // All layers, for the tokens from `first_output` on; pre_norm() changes input->vectors to their norms.
  // `input` is as for attend().
  at::Tensor post_norm(at::Tensor x, const EmbeddedInput* input, std::int64_t first_output,
                       const Pass& pass) const;
  at::Tensor pre_norm(at::Tensor x, EmbeddedInput* input, std::int64_t first_output, const Pass& pass) const;

  // The result before W_o. `input` says what x consists of, if x is nothing else; otherwise it is null.
  at::Tensor attend(const at::Tensor& x, const EmbeddedInput* input, std::int64_t layer,
                    std::int64_t first_query, const Pass& pass) const;
  EncodingContext context_of(std::int64_t layer, std::int64_t tokens, std::int64_t first_query,
                             const Positions& positions) const;

  ModelShape shape_;
  Vocabulary vocabulary_;
  std::unique_ptr<Encoding> encoding_;
  mutable TableCache tables_;
};

std::unique_ptr<Model> make_encoder(ModelParts parts, std::int64_t replicas, const Backend& backend);

}  // namespace che
