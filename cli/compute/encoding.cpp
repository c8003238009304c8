#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "cli/computing.h"
#include "core/error.h"
#include "experiments/learn/model_factory.h"
#include "experiments/plan/run_config.h"
#include "experiments/plan/run_workload.h"
#include "models/architectures/encoder_model.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

// Rows beyond this are no table to look at, and would not fit into memory.
constexpr double kMaxRows = 3e7;

struct EncodingOptions {
  std::string name;
  std::int64_t length = 0;
  std::int64_t trained_tokens = 0;  // 0: as many as `length`.
  ModelShape shape;
  std::int64_t seed = 0;
  std::vector<std::string> settings;  // key=value
};

EncodingConfig encoding_config(const EncodingOptions& options) {
  EncodingConfig config;
  config.reset(options.name);
  apply_settings(options.settings, "direction=symmetric", fields_of(config),
                 {{"name", "the argument " + options.name}});
  if (config.dape) {
    throw Error(
        fmt::format("{}: DAPE's bias depends on the input; `che encoding {}` shows the bias that it adapts, "
                    "`che bias RUN` the adapted one of a trained run",
                    options.name, config.name));
  }
  if (config.window.is_cut() || config.attention_scale != AttentionScale::kSqrtD) {
    throw Error(
        "--set: window and attention_scale change attention, and nothing that an encoding has in a table");
  }
  return config;
}

// A model of one layer, untrained, only for its encoding.
int show_encoding(const EncodingOptions& options) {
  const EncodingConfig config = encoding_config(options);
  ModelShape shape = options.shape;
  shape.layers = 1;
  if (const auto problem = shape.problem()) throw Error(problem->message());
  if (const auto problem = config.problem()) throw Error(problem->message());
  const EncodingEntry& entry = config.entry();
  if (const auto problem = entry.problem({shape, options.length, config.position_limit(),
                                          config.all_options(), config.dape, config.positions})) {
    throw Error(problem->message());
  }
  const auto length = static_cast<double>(options.length);
  const double rows = entry.gives_bias ? static_cast<double>(shape.heads) * length * length
                                       : 2 * length * static_cast<double>(shape.width);
  if (rows > kMaxRows) {
    throw Error(fmt::format("--length {}: the table would have {:.2g} rows; allowed: {:.2g}", options.length,
                            rows, kMaxRows));
  }

  const std::int64_t trained = options.trained_tokens == 0 ? options.length : options.trained_tokens;
  RunConfig run;
  run.encoding = config;
  Encoder model({shape, {.tokens = 1, .classes = 1}, create_encoding(config, {.count = trained})}, 1,
                backend_of(run.execution));
  const std::array<std::int64_t, 1> seeds{options.seed};
  model.parameters().initialise(seeds);
  model.project();
  const auto positions = create_positions(run, options.seed, Purpose::kPositions, 0);
  const auto table = model.encoding_table(options.length, positions);
  if (!table) {
    throw Error(fmt::format("{} does nothing that could be shown without an input", config.name));
  }
  const std::string text = table->csv();
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

void fill_encoding_command(CLI::App& command, Action& action) {
  const auto options = set_action(command, action, show_encoding);
  command
      .add_option("name", options->name,
                  "name or randomized_NAME (one draw); 'che list encodings' shows them")
      ->required();
  command.add_option("--length", options->length, "tokens")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}));
  command
      .add_option("--trained-tokens", options->trained_tokens,
                  "tokens of the longest training sequence, for rope's scaling (default: --length)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}));
  command.add_option("--heads", options->shape.heads, "attention heads")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}))
      ->capture_default_str();
  command.add_option("--width", options->shape.width, "features per token")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{65'536}))
      ->capture_default_str();
  command.add_option("--seed", options->seed, "of initial parameters and randomized positions")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command.add_option("--set", options->settings, "a setting of the encoding, direction=symmetric")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace che
