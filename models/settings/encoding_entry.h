#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"
#include "core/registry.h"
#include "models/settings/model_shape.h"
#include "models/settings/parameter_spec.h"
#include "models/settings/positions.h"

namespace che {

// How DAPE's network f adapts a bias B of logits A, see models/encodings/dape.h. kAttentionOnly is the
// formula around an encoding without a bias.
enum class DapeVariant : std::uint8_t {
  kConcatResidual,
  kConcat,
  kAddResidual,
  kBiasOnlyResidual,
  kAdd,
  kBiasOnly,
  kAttentionOnly,
};

// How many keys f sees at once; three is DAPE V2 (arXiv 2410.04798).
enum class DapeKernel : std::uint8_t { kOneKey, kThreeKeys };

// The factor of the logits q k / sqrt(d_head); see models/encodings/attention_settings.h.
enum class AttentionScale : std::uint8_t { kSqrtD, kLogN, kSsmax };

// The keys that the first `heads` heads see: those at most `reach` tokens from the query; all where it is 0.
struct AttentionWindow {
  std::int64_t reach = 0;
  std::int64_t heads = 4;

  bool is_cut() const { return reach > 0; }
};

// Settings of the DAPE wrapper (arXiv 2405.14722).
struct DapeOptions {
  std::int64_t hidden = 64;  // D, hidden units of f
  DapeVariant variant = DapeVariant::kConcatResidual;
  DapeKernel kernel = DapeKernel::kOneKey;

  // Whether B itself is added, too.
  bool adds_bias() const {
    return variant == DapeVariant::kConcatResidual || variant == DapeVariant::kAddResidual ||
           variant == DapeVariant::kBiasOnlyResidual;
  }

  // Keys that a layer of f sees at once.
  std::int64_t taps() const { return kernel == DapeKernel::kThreeKeys ? 3 : 1; }

  // The words of configs for the variants, in their order.
  static const std::vector<std::string>& variant_words();
  void visit_fields(FieldVisitor& visit);
};

// The demands of a run on its encoding, as far as its config tells.
struct EncodingUse {
  const ModelShape& shape;
  std::int64_t tokens;        // The length of the longest sequence that the run sees.
  std::int64_t max_position;  // Drawn positions lie below it; 0 for those without a limit.
  const AnyOptions& options;
  const std::optional<DapeOptions>& dape;
  PositionSource positions = PositionSource::kContiguous;
};

// A positional encoding as a config names it. Its header registers it and knows no LibTorch, so that configs
// and results can be read without it; its mathematics is registered as an EncodingMaker.
struct EncodingEntry {
  std::string name;
  std::string summary;  // One line.
  std::string formula;  // One line.
  std::string source;   // Paper or program.
  bool reads_positions = true;
  bool needs_whole_positions = false;  // It has a table by position or distance.
  bool gives_bias = false;             // An additive bias on the logits, which DAPE can wrap.
  bool does_nothing = false;           // No encoding at all: DAPE around it reads the logits alone.
  // Where it stands in tables and legends: by ascending place, then by name. The paper's columns are 1 to 7.
  int place = 100;
  AnyOptions options = NoOptions();  // The defaults.
  // The options that a run's identity leaves out, where they differ from today's defaults. They are the
  // defaults that earlier runs were stored under, so that these keep their ids and a new default has one of
  // its own.
  AnyOptions identity_defaults = {};
  // Options that say what becomes of keys to the right: a decoder reads none of them, and refuses others than
  // the defaults.
  std::vector<std::string> encoder_options = {};
  // Whether no program has released its form in an encoder with these options, so that its part for keys on
  // the right is ours. Tables say so.
  std::function<bool(const AnyOptions& options)> right_side_is_ours = [](const AnyOptions&) { return false; };
  // A model or a number of positions that it cannot serve with these options; nothing where it can.
  std::function<std::optional<ConfigProblem>(const EncodingUse& use)> problem =
      [](const EncodingUse&) -> std::optional<ConfigProblem> { return std::nullopt; };
  // A setting off its default that has no effect next to the others: refused in configs and on command lines,
  // and read where earlier versions stored it. Nothing where there is none.
  std::function<std::optional<ConfigProblem>(const AnyOptions& options)> idle_setting =
      [](const AnyOptions&) -> std::optional<ConfigProblem> { return std::nullopt; };

  bool takes_dape() const { return gives_bias || does_nothing; }
  // The DAPE around it unless a config says otherwise.
  DapeOptions default_dape() const {
    DapeOptions dape;
    if (does_nothing) dape.variant = DapeVariant::kAttentionOnly;
    return dape;
  }

  static const char* kind() { return "encoding"; }
};

// The problem of encoding `name`, which turns pairs of features, with heads of an odd width.
inline std::optional<ConfigProblem> odd_head_width(const EncodingUse& use, std::string_view name) {
  const ModelShape& shape = use.shape;
  if (shape.head_width() % 2 == 0) return std::nullopt;
  return ConfigProblem{
      {"model.width", "model.heads"},
      fmt::format("{} rotates pairs of features and needs an even width per head; got {} / {} = {}; set "
                  "model.width to a multiple of {}, such as {}",
                  name, shape.width, shape.heads, shape.head_width(), 2 * shape.heads,
                  shape.width + shape.heads)};
}

// The entry of that name, or null.
inline const EncodingEntry* find_encoding(std::string_view name) {
  const auto& registry = Registry<EncodingEntry>::instance();
  return std::ranges::count(registry.names(), name) > 0 ? &registry.get(name) : nullptr;
}

}  // namespace che
