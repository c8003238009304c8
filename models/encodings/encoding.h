#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "core/registry.h"
#include "models/encodings/dape_options.h"
#include "models/model_shape.h"
#include "models/parameter_spec.h"
#include "models/positions.h"

namespace at {
class Tensor;
}

namespace che {

// What a run asks of its encoding, as far as its config tells.
struct EncodingUse {
  const ModelShape& shape;
  std::int64_t tokens;        // Of the longest sequence the run sees.
  std::int64_t max_position;  // What randomized positions are drawn from, or 0 for contiguous ones.
  const OptionValues& options;
};

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
  // Throws Error for a model or a number of positions that it cannot serve with these options.
  std::function<void(const EncodingUse& use)> check = [](const EncodingUse&) {};
  // With `dape`, what DAPE so configured is to wrap.
  std::function<std::unique_ptr<class Encoding>(const OptionValues& values,
                                                const std::optional<DapeOptions>& dape)>
      make;

  static const char* kind() { return "encoding"; }
};

}  // namespace che
