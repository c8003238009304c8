// Learned absolute positions (arXiv 1706.03762, 1705.03122): x_t += E[p_t], one row a position.
//
// The table's length is a setting of its own rather than max_position, because contiguous positions
// have no maximum and a run is the same whatever max_position it does not read.
#include <ATen/ATen.h>
#include <fmt/core.h>

#include "core/error.h"
#include "models/encodings/encoding.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

struct LearnedOptions {
  std::int64_t rows = 2048;  // L

  void visit_fields(FieldVisitor& visit) {
    visit.integer({"rows", "positions that the table has a row for"}, rows, 1, 10'000'000);
  }
};

class Learned : public Encoding {
 public:
  explicit Learned(LearnedOptions options) : options_(options) {}

  std::vector<ParameterSpec> embedding_parameters(const ModelShape& shape) const override {
    return {{"table", {options_.rows, shape.width}, Init::truncated_normal(1)}};
  }

  at::Tensor embedding(const EncodingContext& context) const override {
    const at::Tensor& table = context.parameters["table"];
    // As numbers of the activations' type, which holds every row's exactly.
    const at::Tensor rows = context.table("learned", context.of_tokens(), whole_numbers);
    return table.index_select(1, rows.to(at::kLong)).unsqueeze(1);
  }

 private:
  LearnedOptions options_;
};

std::optional<ConfigProblem> problem(const EncodingUse& use) {
  const std::int64_t rows = options_from<LearnedOptions>(use.options).rows;
  if (use.max_position > rows) {
    return ConfigProblem{
        {"encoding.rows"},
        fmt::format(
            "learned has rows for {} positions and encoding.max_position is {}; raise rows to {} or lower "
            "max_position",
            rows, use.max_position, use.max_position)};
  }
  if (use.max_position == 0 && use.tokens > rows) {
    return ConfigProblem{
        {"encoding.rows"},
        fmt::format(
            "learned has rows for {} positions and the longest sequence has {} tokens; raise rows to {} "
            "or lower evaluation.last_length",
            rows, use.tokens, use.tokens)};
  }
  return std::nullopt;
}

const Registered<EncodingEntry> registered{{
    .name = "learned",
    .summary = "a learned vector for each absolute position, added to the embedding",
    .formula = "x_t += E[p_t]",
    .source = "Gehring et al., arXiv 1705.03122",
    .place = 1,
    .colour = "#C98391",
    .marker = Marker::kPentagon,
    .visit = visit_options<LearnedOptions>,
    .problem = problem,
    .make = make_encoding<Learned, LearnedOptions>,
}};

}  // namespace
}  // namespace che
