#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"
#include "experiments/plan/cell_key.h"
#include "models/settings/encoding_entry.h"
#include "models/settings/model_entry.h"

namespace che {

// Which encoding, over which positions, and whether DAPE wraps it.
struct EncodingConfig {
  std::string name = "none";
  AnyOptions options;
  PositionSource positions = PositionSource::kContiguous;
  std::int64_t max_position = 2048;  // Randomized positions, whole or real, lie below it.
  std::optional<DapeOptions> dape;
  AttentionScale attention_scale = AttentionScale::kSqrtD;
  AttentionWindow window;

  // From a shorthand [randomized_][dape_]NAME; an empty string gives the defaults. Throws Error for
  // an unknown name and for dape around an encoding that gives no bias.
  void reset(std::string_view shorthand);
  void visit_fields(FieldVisitor& visit);

  bool is_randomized() const { return positions == PositionSource::kRandomized; }

  // The max_position that positions obey; 0 where they have none.
  std::int64_t position_limit() const {
    return is_randomized() || positions == PositionSource::kRandomizedReal ? max_position : 0;
  }

  // Parts that do not go together, such as DAPE around an encoding that gives no bias.
  std::optional<ConfigProblem> problem() const;

  // A setting without effect, which a run of an earlier version may have; see EncodingEntry.
  std::optional<ConfigProblem> idle_setting() const;

  const EncodingEntry& entry() const { return Registry<EncodingEntry>::instance().get(name); }

  // The options, or the entry's defaults where none were set.
  const AnyOptions& all_options() const { return options.or_defaults(entry().options); }

  // Sets options that are given as text. Throws Error for an unknown name or a bad value.
  void set_options(const OptionValues& values) { options = all_options().with(values); }

  // Returns the encoding with every setting at its default.
  EncodingConfig with_defaults() const;

  // Returns the encoding with the settings that a run's identity leaves out.
  EncodingConfig with_identity_defaults() const;

  // Its text is what `reset` reads.
  EncodingForm form() const;

  // The form with every setting that is off its default.
  EncodingLabel label() const;
};

struct NamedEncoding {
  // The shorthand; DAPE V2 (arXiv 2410.04798) has none and is called "dape_v2_" and the base, and "ssmax_"
  // stands before one with that scale. In a model that is no encoder, the kind stands before it, and before
  // that the form of its blocks: "pre_norm_decoder_rope".
  std::string name;
  EncodingConfig config;
  std::string model = ModelConfig().kind;
  BlockForm block = BlockForm::kPostNorm;
};

// Returns the models that checks of all encodings go through. They have every registered encoding in every
// kind of model that takes one, also randomized where it reads positions, and DAPE and DAPE V2 around those
// with a bias. Some have blocks with pre-norm.
std::vector<NamedEncoding> every_encoding();

}  // namespace che
