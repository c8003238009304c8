// Encodings without LibTorch, under the names of real ones, for tests of configs and tables.

#include <fmt/format.h>

#include "models/encodings/encoding.h"

namespace che {
namespace {

struct KerpleOptions {
  std::string direction = "half_offset";

  void visit_fields(FieldVisitor& visit) {
    visit.choice({"direction", "distance of keys to the right"}, direction,
                 {"half_offset", "symmetric", "left_only"});
  }
};

void check_rope(const EncodingUse& use) {
  if (use.shape.head_width() % 2 != 0) {
    throw Error(fmt::format("model.width, model.heads: rope needs an even width a head; got {} / {} = {}",
                            use.shape.width, use.shape.heads, use.shape.head_width()));
  }
}

const Registered<EncodingEntry> none{
    {.name = "none", .summary = "", .formula = "", .source = "", .reads_positions = false, .make = {}}};
const Registered<EncodingEntry> rope{
    {.name = "rope", .summary = "", .formula = "", .source = "", .check = check_rope, .make = {}}};
const Registered<EncodingEntry> alibi{
    {.name = "alibi", .summary = "", .formula = "", .source = "", .gives_bias = true, .make = {}}};
const Registered<EncodingEntry> kerple{{.name = "kerple",
                                        .summary = "",
                                        .formula = "",
                                        .source = "",
                                        .gives_bias = true,
                                        .visit = visit_options<KerpleOptions>,
                                        .make = {}}};

}  // namespace
}  // namespace che
