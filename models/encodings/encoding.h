#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "core/registry.h"
#include "models/model_shape.h"
#include "models/parameter_spec.h"
#include "models/positions.h"

namespace at {
class Tensor;
}

namespace che {

// A positional encoding as a config names it. The struct knows no LibTorch, so that configs and
// tables can be read without it.
struct EncodingEntry {
  std::string name;
  std::string summary;  // One line.
  std::string formula;  // One line.
  std::string source;   // Paper or program.
  bool reads_positions = true;
  bool gives_bias = false;  // An additive bias on the logits, which DAPE can wrap.
  // Lets a visitor see its options, with their defaults or as `values` says.
  std::function<void(OptionValues& values, FieldVisitor& visitor)> visit = visit_options<NoOptions>;
  // Throws Error for a model or a number of positions it cannot serve: `tokens` is the longest
  // sequence the run will see, `max_position` is what randomized positions are drawn from or 0.
  std::function<void(const ModelShape& shape, std::int64_t tokens, std::int64_t max_position)> check =
      [](const ModelShape&, std::int64_t, std::int64_t) {};
  std::function<std::unique_ptr<class Encoding>(const OptionValues& values)> make;

  static const char* kind() { return "encoding"; }
};

}  // namespace che
