#include "experiments/plan/encoding_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "core/config/field_list.h"
#include "core/error.h"
#include "core/number_text.h"
#include "core/registry.h"
#include "core/suggestion.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

constexpr std::string_view kRandomized = "randomized";

// Why DAPE cannot wrap the encoding; empty where it can.
std::string dape_problem(const EncodingEntry& entry) {
  if (entry.gives_bias) return {};
  const auto& registry = Registry<EncodingEntry>::instance();
  std::vector<std::string> biased;
  for (const std::string& name : registry.names()) {
    if (registry.get(name).gives_bias) biased.push_back(name);
  }
  return fmt::format("dape wraps an encoding that gives a bias and {} gives none; allowed: {}", entry.name,
                     fmt::join(biased, ", "));
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
    if (!registered() && take_prefix(shorthand, "randomized_")) fresh.positions = kRandomized;
    if (!registered() && take_prefix(shorthand, "dape_")) fresh.dape.emplace();
    if (!registered()) throw unknown_encoding(form);
    const EncodingEntry& entry = registry.get(shorthand);
    if (fresh.dape) check_takes_dape(entry);
    fresh.name = entry.name;
  }
  *this = std::move(fresh);
}

void EncodingConfig::visit_fields(FieldVisitor& visit) {
  const auto& registry = Registry<EncodingEntry>::instance();
  const std::string old_name = name;
  try {
    visit.choice({"name", "which encoding"}, name, registry.names());
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}; next to it, `dape: {{}}` wraps it in DAPE and `positions: randomized` draws "
                    "its positions",
                    error.what()));
  }
  if (name != old_name) options.clear();
  registry.get(name).visit(options, visit);
  bool wrapped = dape.has_value();
  visit.optional_group({"dape", "wraps the encoding's bias in DAPE's network"}, wrapped,
                       [&](FieldVisitor& nested) {
                         if (!dape) dape.emplace();
                         dape->visit_fields(nested);
                       });
  visit.choice({"positions", "0, 1, 2, ... or a random subset of 0 .. max_position-1"}, positions,
               {"contiguous", std::string(kRandomized)});
  // Contiguous positions do not read it.
  if (!is_randomized()) visit.role(Role::kExecution);
  visit.integer({"max_position", "randomized positions lie below it"}, max_position, 1, 10'000'000);
}

EncodingForm EncodingConfig::form() const {
  return {.name = name, .dape = dape.has_value(), .randomized = is_randomized()};
}

EncodingLabel EncodingConfig::label() const {
  EncodingConfig config = *this;
  EncodingConfig defaults = with_defaults();
  defaults.positions = positions;
  return {.form = form(),
          .settings = settings_off_default(
              "encoding", [&](FieldVisitor& visitor) { config.visit_fields(visitor); },
              [&](FieldVisitor& visitor) { defaults.visit_fields(visitor); })};
}

std::optional<ConfigProblem> EncodingConfig::problem() const {
  const EncodingEntry& entry = Registry<EncodingEntry>::instance().get(name);
  if (dape && !entry.gives_bias) return ConfigProblem{{"encoding.dape"}, dape_problem(entry)};
  if (is_randomized() && !entry.reads_positions) {
    return ConfigProblem{{"encoding.positions"},
                         fmt::format("{} reads no positions; allowed: contiguous", name)};
  }
  return std::nullopt;
}

EncodingConfig EncodingConfig::with_defaults() const {
  EncodingConfig defaults;
  defaults.name = name;
  if (dape) defaults.dape.emplace();
  return defaults;
}

EncodingConfig EncodingConfig::with_identity_defaults() const {
  EncodingConfig defaults = with_defaults();
  defaults.options = Registry<EncodingEntry>::instance().get(name).identity_defaults;
  return defaults;
}

}  // namespace che
