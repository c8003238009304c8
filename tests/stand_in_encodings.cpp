// Encodings without LibTorch, under the names of real ones, for tests of configs and tables.

#include <fmt/format.h>

#include "models/settings/encoding_entry.h"

namespace che {
namespace {

struct KerpleOptions {
  std::string direction = "symmetric";

  void visit_fields(FieldVisitor& visit) {
    visit.choice({"direction", "distance of keys to the right"}, direction,
                 {"symmetric", "half_offset", "left_only"});
  }
};

struct RopeOptions {
  std::string scaling = "none";

  void visit_fields(FieldVisitor& visit) {
    visit.role(Role::kEvaluation);
    visit.choice({"scaling", "of frequencies"}, scaling, {"none", "ntk", "yarn"});
  }
};

std::optional<ConfigProblem> rope_problem(const EncodingUse& use) {
  if (use.shape.head_width() % 2 == 0) return std::nullopt;
  return ConfigProblem{{"model.width", "model.heads"},
                       fmt::format("rope needs an even width per head; got {} / {} = {}", use.shape.width,
                                   use.shape.heads, use.shape.head_width())};
}

const Registered<EncodingEntry> none{{.name = "none",
                                      .summary = "",
                                      .formula = "",
                                      .source = "",
                                      .reads_positions = false,
                                      .does_nothing = true,
                                      .place = 0,
                                      .colour = "#000000",
                                      .marker = Marker::kCross,
                                      .make = {}}};
const Registered<EncodingEntry> rope{{.name = "rope",
                                      .summary = "",
                                      .formula = "",
                                      .source = "",
                                      .place = 3,
                                      .colour = "#0D01FB",
                                      .marker = Marker::kDisc,
                                      .visit = visit_options<RopeOptions>,
                                      .problem = rope_problem,
                                      .make = {}}};
const Registered<EncodingEntry> alibi{{.name = "alibi",
                                       .summary = "",
                                       .formula = "",
                                       .source = "",
                                       .gives_bias = true,
                                       .place = 5,
                                       .colour = "#E3260A",
                                       .marker = Marker::kFullTriangle,
                                       .make = {}}};
const Registered<EncodingEntry> kerple{{.name = "kerple",
                                        .summary = "",
                                        .formula = "",
                                        .source = "",
                                        .gives_bias = true,
                                        .place = 6,
                                        .colour = "#C3BA3A",
                                        .marker = Marker::kFullDiamond,
                                        .visit = visit_options<KerpleOptions>,
                                        .identity_defaults = {std::pair("direction", "half_offset")},
                                        .make = {}}};

}  // namespace
}  // namespace che
