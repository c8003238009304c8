#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"
#include "core/config/problem.h"
#include "experiments/plan/cell_key.h"
#include "models/settings/dape_options.h"

namespace che {

// Which encoding, over which positions, and whether DAPE wraps it.
struct EncodingConfig {
  std::string name = "none";
  OptionValues options;
  std::string positions = "contiguous";  // or "randomized"
  std::int64_t max_position = 2048;      // Randomized positions are drawn from 0 .. max_position-1.
  std::optional<DapeOptions> dape;

  // From a shorthand [randomized_][dape_]NAME; an empty string gives the defaults. Throws Error for
  // an unknown name and for dape around an encoding that gives no bias.
  void reset(std::string_view shorthand);
  void visit_fields(FieldVisitor& visit);

  bool is_randomized() const { return positions == "randomized"; }

  // DAPE around an encoding that gives no bias, or randomized positions of one that reads none.
  std::optional<ConfigProblem> problem() const;

  // A setting without effect, which a run of an earlier version may have; see EncodingEntry.
  std::optional<ConfigProblem> idle_setting() const;

  // The same encoding with every setting at its default.
  EncodingConfig with_defaults() const;

  // The same encoding with the settings that a run's identity leaves out.
  EncodingConfig with_identity_defaults() const;

  // The names of the settings that only evaluation reads ("scaling").
  std::vector<std::string> evaluation_setting_names() const;

  // Those that are off their default, by name.
  OptionValues evaluation_settings() const;

  // Whether it has every setting that is named in these.
  bool has_evaluation_settings(const OptionValues& settings) const;

  // The same encoding with these, and with every other one that only evaluation reads at its default. Throws
  // Error for settings that this encoding does not have, and for values that they do not take.
  EncodingConfig with_evaluation_settings(const OptionValues& settings) const;

  // Its text is what `reset` reads.
  EncodingForm form() const;

  // The form with every setting that is off its default.
  EncodingLabel label() const;
};

}  // namespace che
