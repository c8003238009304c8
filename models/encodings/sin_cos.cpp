#include "models/encodings/sin_cos.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"

namespace che {
namespace {

class SinCos : public Encoding {
 public:
  at::Tensor embedding(const EncodingContext& context) const override {
    return context.table("sin_cos",
                         [width = context.shape.width, tokens = context.tokens](const Positions& positions) {
                           return sinusoid(positions.of_tokens(Positions::kEmbeddingLayer, tokens), width);
                         });
  }
};

const Registered<EncodingMaker> sin_cos_maker{{"sin_cos", make_encoding<SinCos>}};

}  // namespace
}  // namespace che
