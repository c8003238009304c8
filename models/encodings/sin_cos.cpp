#include "models/encodings/sin_cos.h"

#include <ATen/ATen.h>

#include "models/encodings/encoding.h"
#include "models/encodings/sinusoid.h"

namespace che {
namespace {

class SinCos : public Encoding {
 public:
  at::Tensor embedding(const EncodingContext& context) const override {
    const auto build = [width = context.shape.width](const std::vector<std::int64_t>& positions) {
      return sinusoid(positions, width);
    };
    return context.table("sin_cos", context.of_tokens(), build);
  }
};

const Registered<EncodingMaker> registered{{"sin_cos", make_encoding<SinCos, NoOptions>}};

}  // namespace
}  // namespace che
