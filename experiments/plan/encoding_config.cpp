#include "experiments/plan/encoding_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/number_text.h"
#include "core/registry.h"
#include "core/suggestion.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

// Why DAPE cannot wrap the encoding; empty where it can.
std::string dape_problem(const EncodingEntry& entry) {
  if (entry.takes_dape()) return {};
  const auto& registry = Registry<EncodingEntry>::instance();
  std::vector<std::string> biased;
  for (const std::string& name : registry.names()) {
    if (registry.get(name).takes_dape()) biased.push_back(name);
  }
  return fmt::format("dape wraps an encoding that gives a bias and {} gives none; allowed: {}", entry.name,
                     fmt::join(biased, ", "));
}

// The error for a setting of DAPE next to `form`, which has no DAPE.
std::string absent_dape_problem(const EncodingEntry& entry, EncodingForm form) {
  if (std::string problem = dape_problem(entry); !problem.empty()) return problem;
  const std::string plain = form.text();
  form.dape = true;
  return fmt::format(
      "{} has no dape; name the encoding {}, or set encoding.dape to a map, {{}} for its defaults", plain,
      form.text());
}

void check_takes_dape(const EncodingEntry& entry) {
  if (const std::string problem = dape_problem(entry); !problem.empty()) throw Error(problem);
}

// For a name that is no form of an encoding. The suggestion ignores case, hyphens and the order of the
// prefixes.
Error unknown_encoding(std::string_view form) {
  const auto& registry = Registry<EncodingEntry>::instance();
  std::string text(form);
  for (char& c : text) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string_view rest = text;
  bool dape = false;
  bool randomized = false;
  while (true) {
    if (take_prefix(rest, "dape_")) {
      dape = true;
    } else if (take_prefix(rest, "randomized_") || take_prefix(rest, "randomised_")) {
      randomized = true;
    } else {
      break;
    }
  }
  std::string suggestion;
  if (const std::string name = closest_name(rest, registry.names()); !name.empty()) {
    const EncodingEntry& entry = registry.get(name);
    if (dape) check_takes_dape(entry);
    suggestion =
        fmt::format("; did you mean '{}{}{}'?", randomized && entry.reads_positions ? "randomized_" : "",
                    dape ? "dape_" : "", name);
  }
  return Error(
      fmt::format("unknown encoding '{}'{}; known: {}; dape_ may stand before those that give a bias, "
                  "randomized_ before those that read positions",
                  form, suggestion, fmt::join(registry.names(), ", ")));
}

}  // namespace

void EncodingConfig::reset(std::string_view shorthand) {
  const auto& registry = Registry<EncodingEntry>::instance();
  EncodingConfig fresh;
  const std::string_view form = shorthand;
  const auto registered = [&] { return std::ranges::count(registry.names(), shorthand) > 0; };
  if (!shorthand.empty()) {
    if (!registered() && take_prefix(shorthand, "randomized_")) fresh.positions = PositionSource::kRandomized;
    const bool wrapped = !registered() && take_prefix(shorthand, "dape_");
    if (!registered()) throw unknown_encoding(form);
    const EncodingEntry& entry = registry.get(shorthand);
    if (wrapped) {
      check_takes_dape(entry);
      fresh.dape = entry.default_dape();
    }
    fresh.name = entry.name;
  }
  *this = std::move(fresh);
}

void EncodingConfig::visit_fields(FieldVisitor& visit) {
  const auto& registry = Registry<EncodingEntry>::instance();
  const std::string old_name = name;
  try {
    visit.choice({.name = "name", .help = "which encoding", .structural = true}, name, registry.names());
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}; next to it, `dape: {{}}` wraps it in DAPE and `positions: randomized` draws "
                    "its positions",
                    error.what()));
  }
  const EncodingEntry& entry = registry.get(name);
  if (name != old_name) {
    options = entry.options;
    if (dape && dape->variant == registry.get(old_name).default_dape().variant) {
      dape->variant = entry.default_dape().variant;
    }
  }
  options = all_options();
  options.visit_fields(visit);
  visit.role(Role::kCell);
  bool wrapped = dape.has_value();
  const std::string when_absent = wrapped ? "" : absent_dape_problem(entry, form());
  visit.optional_group(
      {.name = "dape", .help = "wraps the encoding's bias in DAPE's network", .when_absent = when_absent},
      wrapped, [&](FieldVisitor& nested) {
        if (!dape) dape = entry.default_dape();
        dape->visit_fields(nested);
      });
  visit.choice(
      {"attention_scale", "logits q k / sqrt(d) as they are, times log n / log L, or times s_h log n"},
      attention_scale, {"sqrt_d", "log_n", "ssmax"});
  visit.integer({.name = "window",
                 .help = "tokens to each side of the query whose keys some heads see",
                 .zero_word = "all"},
                window.reach, 1, 1'000'000);
  if (!window.is_cut()) visit.role(Role::kExecution);  // It has no effect.
  visit.integer({"window_heads", "heads with a window, the first ones"}, window.heads, 1, 1'024);
  visit.role(Role::kCell);
  visit.choice(
      {"positions",
       "0, 1, 2, ..., a random subset of 0 .. max_position-1, 0, s, 2 s, ... with a random s of mean 1 "
       "in training, or sorted random reals below max_position"},
      positions, {"contiguous", "randomized", "equal_mean", "randomized_real"});
  if (position_limit() == 0) visit.role(Role::kExecution);  // It has no effect.
  visit.integer({"max_position", "randomized positions lie below it"}, max_position, 1, 10'000'000);
}

EncodingForm EncodingConfig::form() const {
  return {.name = name, .dape = dape.has_value(), .randomized = is_randomized()};
}

EncodingLabel EncodingConfig::label() const {
  EncodingConfig defaults = with_defaults();
  if (is_randomized()) defaults.positions = positions;  // The form says so.
  return {.form = form(),
          .settings = settings_off_default("encoding", fields_of(*this), fields_of(std::as_const(defaults)))};
}

std::optional<ConfigProblem> EncodingConfig::problem() const {
  const EncodingEntry& entry = this->entry();
  if (dape && !entry.takes_dape()) return ConfigProblem{{"encoding.dape"}, dape_problem(entry)};
  const std::string& only =
      DapeOptions::variant_words()[static_cast<std::size_t>(DapeVariant::kAttentionOnly)];
  if (dape && entry.does_nothing != (dape->variant == DapeVariant::kAttentionOnly)) {
    return ConfigProblem{{"encoding.dape.variant"},
                         entry.does_nothing
                             ? fmt::format("{} has no bias that f could read; allowed: {}", name, only)
                             : fmt::format("{} is A + f(A), around none; {} gives a bias, which every other "
                                           "variant reads",
                                           only, name)};
  }
  if (positions != PositionSource::kContiguous && !entry.reads_positions) {
    return ConfigProblem{{"encoding.positions"},
                         fmt::format("{} reads no positions; allowed: contiguous", name)};
  }
  if (is_real(positions) && entry.needs_whole_positions) {
    return ConfigProblem{
        {"encoding.positions"},
        fmt::format("{} has a table by whole positions, and these are fractions; allowed: contiguous, "
                    "randomized",
                    name)};
  }
  return std::nullopt;
}

std::optional<ConfigProblem> EncodingConfig::idle_setting() const {
  const OptionValues values = all_options().values();
  const OptionValues usual = entry().options.values();
  for (const char* const option : {"randomized_distance", "randomized_relative"}) {
    const auto found = values.find(option);
    if (position_limit() > 0 || found == values.end() || found->second == usual.at(option)) continue;
    return ConfigProblem{
        {fmt::format("encoding.{}", option), "encoding.positions"},
        fmt::format(
            "{} has an effect where positions are drawn only; set encoding.positions to randomized or "
            "leave {} out",
            option, option)};
  }
  return entry().idle_setting(all_options());
}

EncodingConfig EncodingConfig::with_defaults() const {
  EncodingConfig defaults;
  defaults.name = name;
  if (dape) defaults.dape = entry().default_dape();
  return defaults;
}

EncodingConfig EncodingConfig::with_identity_defaults() const {
  EncodingConfig defaults = with_defaults();
  defaults.options = entry().identity_defaults;
  return defaults;
}

std::vector<NamedEncoding> every_encoding() {
  std::vector<NamedEncoding> all;
  const auto add = [&](const std::string& shorthand) {
    all.push_back({.name = shorthand, .config = {}});
    all.back().config.reset(shorthand);
  };
  const auto add_version_2 = [&](const std::string& base) {
    add("dape_" + base);
    all.back().name = "dape_v2_" + base;
    all.back().config.dape->kernel = DapeKernel::kThreeKeys;
  };
  const auto add_ssmax = [&](const std::string& shorthand) {
    add(shorthand);
    all.back().name = "ssmax_" + shorthand;
    all.back().config.attention_scale = AttentionScale::kSsmax;
  };
  for (const std::string& name : Registry<EncodingEntry>::instance().names()) {
    const EncodingEntry& entry = Registry<EncodingEntry>::instance().get(name);
    add(name);
    add_ssmax(entry.takes_dape() ? "dape_" + name : name);
    if (entry.reads_positions) add("randomized_" + name);
    if (entry.takes_dape()) add("dape_" + name);
    if (entry.gives_bias && entry.reads_positions) add("randomized_dape_" + name);
    if (entry.takes_dape()) add_version_2(name);
  }
  const std::vector<NamedEncoding> of_default = all;
  for (const std::string& kind : Registry<ModelEntry>::instance().names()) {
    if (kind == ModelConfig().kind || !Registry<ModelEntry>::instance().get(kind).takes_encoding) continue;
    for (const NamedEncoding& encoding : of_default) {
      all.push_back({.name = kind + "_" + encoding.name, .config = encoding.config, .model = kind});
    }
  }
  for (const char* shorthand : {"rope", "sin_cos", "fire", "dape_kerple"}) {
    add(shorthand);
    all.back().name = std::string("pre_norm_decoder_") + shorthand;
    all.back().model = "decoder";
    all.back().block = BlockForm::kPreNorm;
  }
  return all;
}

}  // namespace che
