#include "experiments/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "core/config_reader.h"
#include "core/config_tree.h"
#include "core/config_writer.h"
#include "core/field_text.h"
#include "core/suggestion.h"
#include "models/encodings/encoding.h"
#include "tasks/task.h"

namespace che {
namespace {

constexpr std::int64_t kMaxSeed = std::int64_t{1} << 53;
constexpr std::int64_t kMaxConfigLength = 10'000;
constexpr std::int64_t kMaxSamples = 1'000'000;
constexpr std::string_view kRandomized = "randomized";

void check_takes_dape(const EncodingEntry& entry) {
  if (entry.gives_bias) return;
  std::vector<std::string> biased;
  for (const std::string& name : Registry<EncodingEntry>::instance().names()) {
    if (Registry<EncodingEntry>::instance().get(name).gives_bias) biased.push_back(name);
  }
  throw Error(fmt::format("dape wraps an encoding that gives a bias and {} gives none; allowed: {}",
                          entry.name, fmt::join(biased, ", ")));
}

// For a name that is no form of an encoding. What it may mean is told whatever its case, its hyphens and the
// order of its prefixes.
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

void check_lengths(std::string_view group, std::int64_t first, std::int64_t last) {
  if (first > last) {
    throw Error(fmt::format("{0}.first_length: {1} is greater than {0}.last_length {2}", group, first, last));
  }
}

// The fields of `config` that its type alone does not tell: structural ones, and those whose value
// differs from the one in `defaults`, which has the same structure.
std::vector<FieldRecord> distinct_fields(const FieldVisitor::Members& config,
                                         const FieldVisitor::Members& defaults) {
  std::map<std::string, std::string> default_values;
  for (const FieldRecord& record : list_fields(defaults)) default_values.emplace(record.path, record.value);
  std::vector<FieldRecord> distinct;
  for (FieldRecord& record : list_fields(config)) {
    if (record.structural || default_values.at(record.path) != record.value)
      distinct.push_back(std::move(record));
  }
  return distinct;
}

// The same task or encoding with every setting at its default.
TaskConfig with_defaults(const TaskConfig& config) { return {.name = config.name, .options = {}}; }

EncodingConfig with_defaults(const EncodingConfig& config) {
  EncodingConfig defaults;
  defaults.name = config.name;
  if (config.dape) defaults.dape.emplace();
  return defaults;
}

FieldVisitor::Members fields_of(auto& config) {
  return [&config](FieldVisitor& visitor) { config.visit_fields(visitor); };
}

// 12 hexadecimal digits. `format` changes whenever the text's meaning does.
std::string hash_text(std::string_view format, std::string_view text) {
  const std::string hashed = fmt::format("{}\n{}", format, text);
  return fmt::format("{:012x}", XXH3_64bits(hashed.data(), hashed.size()) >> 16);
}

}  // namespace

void TaskConfig::reset(std::string_view new_name) {
  TaskConfig fresh;
  if (!new_name.empty()) fresh.name = Registry<TaskEntry>::instance().get(new_name).name;
  *this = std::move(fresh);
}

void TaskConfig::visit_fields(FieldVisitor& visit) {
  const auto& registry = Registry<TaskEntry>::instance();
  const std::string old_name = name;
  visit.choice({"name", "which task"}, name, registry.names());
  if (name != old_name) options.clear();
  registry.get(name).visit(options, visit);
}

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
        fmt::format("{}; beside it, `dape: {{}}` wraps it in DAPE and `positions: randomized` draws "
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
  if (positions != kRandomized) visit.role(Role::kExecution);
  visit.integer({"max_position", "randomized positions lie below it"}, max_position, 1, 10'000'000);
}

std::string EncodingConfig::shorthand() const {
  return fmt::format("{}{}{}", positions == kRandomized ? "randomized_" : "", dape ? "dape_" : "", name);
}

std::string EncodingConfig::label() const {
  EncodingConfig config = *this;
  EncodingConfig defaults = with_defaults(config);
  defaults.positions = positions;
  std::vector<std::string> settings;
  for (const FieldRecord& record : distinct_fields(fields_of(config), fields_of(defaults))) {
    if (record.structural || record.role == Role::kExecution) continue;
    settings.push_back(record.path + "=" + record.value);
  }
  return settings.empty() ? shorthand() : fmt::format("{}({})", shorthand(), fmt::join(settings, ", "));
}

void TrainingConfig::visit_fields(FieldVisitor& visit) {
  visit.integer({"steps", "updates of the parameters; 0 measures the untrained model"}, steps, 0,
                4'000'000'000);
  visit.integer({"batch_size", "samples a step"}, batch_size, 1, 1'000'000);
  visit.integer({"first_length", "shortest training length"}, first_length, 1, kMaxConfigLength);
  visit.integer({"last_length", "longest training length"}, last_length, 1, kMaxConfigLength);
  visit.real({"clip_norm", "largest Euclidean norm of the gradient"}, clip_norm, 1e-12, 1e12);
  visit.real({"dropout", "probability that a feature is dropped in training"}, dropout, 0, 0.99);
}

void EvaluationConfig::visit_fields(FieldVisitor& visit) {
  visit.integer({"first_length", "shortest test length"}, first_length, 1, kMaxConfigLength);
  visit.integer({"last_length", "longest test length"}, last_length, 1, kMaxConfigLength);
  visit.integer({"length_step", "from one test length to the next"}, length_step, 1, kMaxConfigLength);
  visit.integer({"samples", "samples per length, a multiple of 64"}, samples, kEvaluationBatch, kMaxSamples);
  visit.integer({"seed", "of the test samples"}, seed, 0, kMaxSeed);
  visit.choice({"eval_dropout", "whether dropout stays on in evaluation"}, eval_dropout, {"off", "on"});
}

std::vector<std::int64_t> EvaluationConfig::lengths() const {
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = first_length; length <= last_length; length += length_step)
    lengths.push_back(length);
  return lengths;
}

void ExecutionConfig::visit_fields(FieldVisitor& visit) {
  visit.choice({"device", "where tensors live"}, device, {"cpu"});
  visit.choice({"kernels", "which implementation of the model's operations"}, kernels,
               {"fused", "reference"});
  visit.integer({"replicas", "runs of one cell that train in lock-step"}, replicas, 1, 1'024);
  visit.integer({"threads", "threads of a job"}, threads, 1, 1'024);
  visit.real({"checkpoint_seconds", "seconds between two checkpoints"}, checkpoint_seconds, 0, 1e6);
  visit.real({"memory_gib", "GiB that evaluation may use for activations"}, memory_gib, 0.01, 1e6);
  visit.integer({"log_steps", "training steps between two rows of metrics"}, log_steps, 1, 1'000'000'000);
}

void LogConfig::visit_fields(FieldVisitor& visit) {
  visit.choice({"tensorboard", "whether to write an event file for TensorBoard"}, tensorboard,
               {"false", "true"});
}

void RunConfig::visit_fields(FieldVisitor& visit) {
  visit.role(Role::kCell);
  visit.component(
      {"task", "what is learned"}, [&](std::string_view text) { task.reset(text); }, fields_of(task));
  visit.component(
      {"encoding", "positional encoding"}, [&](std::string_view text) { encoding.reset(text); },
      fields_of(encoding));
  visit.role(Role::kReplica);
  visit.integer({"seed", "of initial parameters and dropout"}, seed, 0, kMaxSeed);
  visit.real({"learning_rate", "of Adam, constant"}, learning_rate, 1e-12, 10);
  visit.role(Role::kCell);
  visit.integer({"data_seed", "of training lengths, batches and positions"}, data_seed, 0, kMaxSeed);
  visit.group({"model", "sizes of the transformer"}, fields_of(model));
  visit.group({"training", "how the parameters are found"}, fields_of(training));
  visit.role(Role::kEvaluation);
  visit.group({"evaluation", "what is measured"}, fields_of(evaluation));
  visit.role(Role::kExecution);
  visit.group({"execution", "how it is computed"}, fields_of(execution));
  visit.group({"log", "what is written beside the results"}, fields_of(log));
}

void RunConfig::check() const {
  model.check();
  check_lengths("training", training.first_length, training.last_length);
  check_lengths("evaluation", evaluation.first_length, evaluation.last_length);
  if (evaluation.samples % kEvaluationBatch != 0) {
    throw Error(fmt::format("evaluation.samples: got {}; allowed: multiples of {}", evaluation.samples,
                            kEvaluationBatch));
  }
  const EncodingEntry& entry = Registry<EncodingEntry>::instance().get(encoding.name);
  if (encoding.dape) {
    try {
      check_takes_dape(entry);
    } catch (const Error& error) {
      throw Error(fmt::format("encoding.dape: {}", error.what()));
    }
  }
  const bool randomized = encoding.positions == kRandomized;
  if (randomized && !entry.reads_positions) {
    throw Error(fmt::format("encoding.positions: {} reads no positions; allowed: contiguous", encoding.name));
  }
  const std::int64_t tokens = longest_sequence();
  if (randomized && tokens > encoding.max_position) {
    throw Error(
        fmt::format("encoding.max_position: {} randomized positions are too few for the {} tokens of {}'s "
                    "longest sequence; raise it to {} or lower evaluation.last_length",
                    encoding.max_position, tokens, task.name, tokens));
  }
  entry.check({model, tokens, randomized ? encoding.max_position : 0, encoding.options});
}

std::int64_t RunConfig::longest_sequence() const {
  const std::unique_ptr<Task> created = create_task(task.name, task.options);
  std::int64_t longest = 0;
  // A greater length need not be the longer sequence.
  const auto include = [&](std::int64_t length) {
    longest = std::max(longest, created->input_length(length) + created->output_length(length));
  };
  for (std::int64_t length = training.first_length; length <= training.last_length; ++length) include(length);
  for (const std::int64_t length : evaluation.lengths()) include(length);
  return longest;
}

std::vector<FieldRecord> list_fields(RunConfig config) { return list_fields(fields_of(config)); }

std::string identity_text(const RunConfig& config, const std::vector<Role>& roles) {
  RunConfig copy = config;
  RunConfig defaults;
  defaults.task = with_defaults(copy.task);
  defaults.encoding = with_defaults(copy.encoding);
  std::vector<std::string> lines;
  for (const FieldRecord& record : distinct_fields(fields_of(copy), fields_of(defaults))) {
    if (std::ranges::count(roles, record.role))
      lines.push_back(fmt::format("{}={}\n", record.path, record.value));
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, ""));
}

std::string run_id(const RunConfig& config) {
  return fmt::format("{}-{}-lr{}-seed{}-{}", config.task.name, config.encoding.shorthand(),
                     real_text(config.learning_rate), config.seed,
                     hash_text("che-run-1", identity_text(config, {Role::kCell, Role::kReplica})));
}

std::string cell_id(const RunConfig& config) {
  return fmt::format("{}-{}-{}", config.task.name, config.encoding.shorthand(),
                     hash_text("che-cell-1", identity_text(config, {Role::kCell})));
}

std::string to_yaml(const RunConfig& config) {
  RunConfig copy = config;
  return write_fields(fields_of(copy));
}

RunConfig parse_run_config(std::string_view yaml, const std::string& source) {
  const ConfigNode map = parse_config(yaml, source);
  RunConfig config;
  assign_fields(map, fields_of(config));
  try {
    config.check();
  } catch (const Error& error) {
    throw config_error({map.location.source}, "", error.what());
  }
  return config;
}

}  // namespace che
