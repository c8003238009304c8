#include "experiments/plan/run_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/config/field_list.h"
#include "core/config/node.h"
#include "core/config/reader.h"
#include "core/text.h"
#include "models/architectures/foreign.h"
#include "models/settings/encoding_entry.h"
#include "tasks/declared/task_definition.h"
#include "tasks/declared/task_files.h"

namespace che {
namespace {

constexpr std::int64_t kMaxSeed = std::int64_t{1} << 53;
constexpr std::int64_t kMaxConfigLength = 10'000;
constexpr std::int64_t kMaxSteps = 4'000'000'000;
constexpr std::int64_t kMaxSamples = 1'000'000;
constexpr std::int64_t kMaxLogSteps = 1'000'000'000;
constexpr std::size_t kMaxForeignName = 60;

std::int64_t tokens_of(const Task& task, std::int64_t length) {
  return task.input_length(length) + task.output_length(length);
}

std::optional<ConfigProblem> reversed_lengths(std::string_view group, std::int64_t first, std::int64_t last) {
  if (first <= last) return std::nullopt;
  return ConfigProblem{
      {fmt::format("{}.first_length", group), fmt::format("{}.last_length", group)},
      fmt::format("first_length {} is greater than last_length {}; lower the first or raise the "
                  "last",
                  first, last)};
}

// The problem of an option of the encoding about keys that the model does not see.
std::optional<ConfigProblem> right_side_problem(const EncodingConfig& encoding, const std::string& model) {
  const OptionValues defaults = encoding.entry().options.values();
  const OptionValues options = encoding.all_options().values();
  for (const std::string& option : encoding.entry().encoder_options) {
    if (options.at(option) == defaults.at(option)) continue;
    return ConfigProblem{
        {"encoding." + option, "model.kind"},
        fmt::format(
            "{} is for keys on both sides, and a token of a {} sees those before it only; leave {} out",
            option, model, option)};
  }
  return std::nullopt;
}

// The problem of a task that has no samples of a length that the config asks for.
std::optional<ConfigProblem> length_problem(const RunConfig& config) {
  const std::unique_ptr<Task> task = create_task(config.task);
  const auto problem_of = [&](std::int64_t length, std::string_view path) -> std::optional<ConfigProblem> {
    const std::string problem = task->length_problem(length);
    if (problem.empty()) return std::nullopt;
    return ConfigProblem{{std::string(path), "task"}, fmt::format("{} {}", task->name(), problem)};
  };
  const TrainingConfig& training = config.training;
  if (!config.is_foreign()) {
    for (std::int64_t length = training.first_length; length <= training.last_length; ++length) {
      if (auto problem = problem_of(length, "training.first_length")) return problem;
    }
  }
  const char* const tested =
      config.evaluation.listed_lengths.empty() ? "evaluation.first_length" : "evaluation.lengths";
  for (const std::int64_t length : config.evaluation.lengths()) {
    if (auto problem = problem_of(length, tested)) return problem;
  }
  return std::nullopt;
}

std::optional<ConfigProblem> evaluation_problem(const EvaluationConfig& evaluation) {
  if (evaluation.listed_lengths.empty()) {
    if (auto problem = reversed_lengths("evaluation", evaluation.first_length, evaluation.last_length)) {
      return problem;
    }
  }
  if (evaluation.samples % kEvaluationBatch == 0) return std::nullopt;
  return ConfigProblem{{"evaluation.samples"},
                       fmt::format("got {}; allowed: multiples of {}", evaluation.samples, kEvaluationBatch)};
}

// `text`, which must be one line.
std::string one_line_text(std::string_view text) {
  if (one_line(text, kWholeText) != text) throw Error("more than one line, or control characters");
  return std::string(text);
}

}  // namespace

void TaskConfig::reset(std::string_view new_name) {
  if (is_declared() && new_name == name) return;
  TaskConfig fresh;
  if (!new_name.empty()) {
    const TaskEntry& entry = task_of_config(new_name);
    fresh.name = entry.name;
    fresh.version = entry.version;
  }
  *this = std::move(fresh);
}

void TaskConfig::visit_fields(FieldVisitor& visit) {
  const std::string old_definition = definition;
  visit.text({"definition", "a task of your own, which a file declares"}, definition,
             [](std::string_view text) { return parse_task_definition(text, "definition").canonical(); });
  if (definition != old_definition) {
    name = parse_task_definition(definition, "definition").name;
    options = {};
  }
  if (is_declared()) {
    visit.choice({.name = "name", .help = "which task", .structural = true}, name, {name});
    visit.role(Role::kExecution);
    visit.text({"description", "what the task is, in one line"}, description, one_line_text);
    visit.role(Role::kCell);
    return;
  }
  const auto& registry = Registry<TaskEntry>::instance();
  const std::string old_name = name;
  visit.choice({.name = "name", .help = "which task", .structural = true}, name, registry.names());
  const TaskEntry& entry = registry.get(name);
  if (name != old_name) {
    options = entry.options;
    version = 1;
  }
  if (entry.version > 1) {
    visit.integer({"version", "of the generator; every version draws other samples"}, version, 1,
                  entry.version);
  }
  options = options.or_defaults(entry.options);
  options.visit_fields(visit);
}

std::int64_t task_version(const TaskConfig& config) {
  if (!config.is_declared()) return config.version;
  return parse_task_definition(config.definition, "definition").version;
}

bool is_drawn(const TaskConfig& config) {
  return config.is_declared() || config.version == Registry<TaskEntry>::instance().get(config.name).version;
}

std::unique_ptr<Task> create_task(const TaskConfig& config) {
  return config.is_declared() ? make_task(parse_task_definition(config.definition, "definition"))
                              : create_task(Registry<TaskEntry>::instance().get(config.name), config.options);
}

TaskConfig TaskConfig::with_defaults() const {
  return {.name = name, .options = {}, .definition = definition, .description = description};
}

TaskLabel TaskConfig::label() const {
  const TaskConfig defaults = with_defaults();
  return {.name = name, .settings = settings_off_default("task", fields_of(*this), fields_of(defaults))};
}

void TrainingConfig::visit_fields(FieldVisitor& visit) {
  visit.integer({"steps", "updates of the parameters; 0 measures the untrained model"}, steps, 0, kMaxSteps);
  visit.integer({"warmup_steps", "first steps over which the learning rate rises linearly from 0"},
                warmup_steps, 0, kMaxSteps);
  visit.integer({"batch_size", "samples per step"}, batch_size, 1, 1'000'000);
  visit.integer({"first_length", "shortest training length"}, first_length, 1, kMaxConfigLength);
  visit.integer({"last_length", "longest training length"}, last_length, 1, kMaxConfigLength);
  visit.real({"clip_norm", "largest Euclidean norm of the gradient"}, clip_norm, 1e-12, 1e12);
  visit.real({"dropout", "probability that a feature is dropped in training"}, dropout, 0, 0.99);
}

void EvaluationConfig::visit_fields(FieldVisitor& visit) {
  static constexpr std::array<std::string_view, 3> kRange = {"first_length", "last_length", "length_step"};
  visit.integer_list({.name = "lengths", .help = "test lengths, in place of a range", .replaces = kRange},
                     listed_lengths, 1, kMaxConfigLength);
  std::ranges::sort(listed_lengths);
  const std::string_view list = listed_lengths.empty() ? "" : "lengths";
  visit.integer({.name = kRange[0], .help = "shortest test length", .replaced_by = list}, first_length, 1,
                kMaxConfigLength);
  visit.integer({.name = kRange[1], .help = "longest test length", .replaced_by = list}, last_length, 1,
                kMaxConfigLength);
  visit.integer({.name = kRange[2], .help = "from one test length to the next", .replaced_by = list},
                length_step, 1, kMaxConfigLength);
  visit.integer({"samples", "samples per length, a multiple of 64"}, samples, kEvaluationBatch, kMaxSamples);
  visit.integer({"seed", "of the test samples"}, seed, 0, kMaxSeed);
  visit.boolean({"eval_dropout", "whether dropout stays on in evaluation"}, eval_dropout);
  visit.role(Role::kExecution);  // They change no score: runs that differ in them share a cell.
  visit.integer_list({"at_steps", "training steps after which the model is evaluated too"}, at_steps, 1,
                     kMaxSteps);
  std::ranges::sort(at_steps);
  visit.boolean({"predictions", "whether predictions of the test samples are stored"}, predictions);
}

std::vector<std::int64_t> EvaluationConfig::lengths() const {
  std::vector<std::int64_t> lengths = listed_lengths;
  if (!lengths.empty()) return lengths;
  for (std::int64_t length = first_length; length <= last_length; length += length_step)
    lengths.push_back(length);
  return lengths;
}

EvaluationConfig with_exact_lengths(EvaluationConfig evaluation) {
  const std::vector<std::int64_t> lengths = evaluation.lengths();
  if (lengths.empty()) return evaluation;  // A reversed range, which measures nothing.
  evaluation.listed_lengths.clear();
  evaluation.first_length = lengths.front();
  evaluation.last_length = lengths.back();
  evaluation.length_step = lengths.size() == 1 ? 1 : lengths[1] - lengths[0];
  if (evaluation.lengths() != lengths) evaluation.listed_lengths = lengths;
  return evaluation;
}

std::string lengths_text(const EvaluationConfig& evaluation) {
  const EvaluationConfig exact = with_exact_lengths(evaluation);
  if (!exact.listed_lengths.empty()) return fmt::format("{}", fmt::join(exact.listed_lengths, ", "));
  return fmt::format("{}..{}{}", exact.first_length, exact.last_length,
                     exact.length_step == 1 ? "" : fmt::format(" in steps of {}", exact.length_step));
}

void LogConfig::visit_fields(FieldVisitor& visit) {
  visit.integer({"every_steps", "training steps between two rows of metrics"}, every_steps, 1, kMaxLogSteps);
  visit.boolean({"tensorboard", "whether to write an event file for TensorBoard"}, tensorboard);
}

void RunConfig::visit_fields(FieldVisitor& visit) {
  visit.role(Role::kCell);
  visit.component(
      {"task", "what is learned"}, [&](std::string_view text) { task.reset(text); }, fields_of(task));
  visit.group({"model", "what is trained"}, fields_of(model));
  if (model.entry().takes_encoding) {
    visit.component(
        {"encoding", "positional encoding"}, [&](std::string_view text) { encoding.reset(text); },
        fields_of(encoding));
  } else {
    const auto refuse = [&](std::string_view) {
      throw Error(fmt::format("model.kind {} takes no encoding; leave the key out", model.kind));
    };
    visit.component({"encoding", "positional encoding"}, refuse, [](FieldVisitor&) {});
  }
  visit.role(Role::kReplica);
  visit.integer({"seed", "of initial parameters and dropout"}, seed, 0, kMaxSeed);
  if (!is_foreign()) {
    visit.real({"learning_rate", "of Adam, constant after training.warmup_steps"}, learning_rate, 1e-12, 10);
  }
  visit.integer({"data_seed", "of training lengths, batches and positions"}, data_seed, 0, kMaxSeed);
  if (is_foreign()) {
    visit.role(Role::kEvaluation);
    visit.group({"evaluation", "what is measured"}, fields_of(evaluation));
    return;
  }
  visit.role(Role::kCell);
  visit.group({"training", "how the parameters are found"}, fields_of(training));
  visit.role(Role::kEvaluation);
  visit.group({"evaluation", "what is measured"}, fields_of(evaluation));
  visit.role(Role::kExecution);
  visit.group({"execution", "how it is computed"}, fields_of(execution));
  visit.group({"log", "what is written next to the results"}, fields_of(log));
}

EncodingForm RunConfig::column_form() const {
  if (is_foreign()) return {.name = foreign_name(), .foreign = true};
  if (!model.entry().takes_encoding) return {.name = model.kind};
  return encoding.form();
}

EncodingLabel RunConfig::column_label() const {
  return model.entry().takes_encoding ? encoding.label() : EncodingLabel{.form = column_form()};
}

std::string foreign_name_problem(std::string_view name) {
  if (!is_plain_name(name, kMaxForeignName)) {
    return fmt::format("allowed: a name of 1 to {} letters, digits, '_', '-' and '.', no '.' or '-' first",
                       kMaxForeignName);
  }
  const bool is_model = std::ranges::count(Registry<ModelEntry>::instance().names(), name) > 0;
  try {
    if (!is_model) EncodingConfig().reset(name);
  } catch (const Error&) {
    return "";
  }
  return fmt::format(
      "'{0}' is {1} of che, next to which the model stands in tables; give the model another name, such as "
      "my_{0}",
      name, is_model ? "a model" : "an encoding");
}

std::optional<ConfigProblem> RunConfig::problem() const {
  if (is_foreign()) {
    if (const std::string problem = foreign_name_problem(foreign_name()); !problem.empty()) {
      return ConfigProblem{{"model.name"}, problem};
    }
    const auto problem = evaluation_problem(evaluation);
    return problem ? problem : length_problem(*this);
  }
  const ModelEntry& entry = model.entry();
  if (auto problem = entry.problem(model.all_options())) return problem;
  if (auto problem = execution.problem()) return problem;
  if (auto problem = reversed_lengths("training", training.first_length, training.last_length))
    return problem;
  if (training.warmup_steps > training.steps) {
    return ConfigProblem{{"training.warmup_steps", "training.steps"},
                         fmt::format("{} warm-up steps are more than the {} steps of training; allowed: 0 to "
                                     "training.steps",
                                     training.warmup_steps, training.steps)};
  }
  if (!evaluation.at_steps.empty() && evaluation.at_steps.back() > training.steps) {
    return ConfigProblem{
        {"evaluation.at_steps", "training.steps"},
        fmt::format("step {} is after the {} steps of training; allowed: 1 to training.steps",
                    evaluation.at_steps.back(), training.steps)};
  }
  if (evaluation.predictions && evaluation.eval_dropout) {
    return ConfigProblem{{"evaluation.predictions", "evaluation.eval_dropout"},
                         "stored predictions are of evaluation without dropout; set one of the two to false"};
  }
  if (auto problem = evaluation_problem(evaluation)) return problem;
  if (auto problem = encoding.problem()) return problem;
  if (auto problem = length_problem(*this)) return problem;
  if (!entry.takes_encoding) return std::nullopt;
  if (entry.is_causal) {
    if (auto problem = right_side_problem(encoding, model.kind)) return problem;
  }
  if (encoding.window.is_cut() && encoding.window.heads > model.shape().heads) {
    return ConfigProblem{{"encoding.window_heads", "model.heads"},
                         fmt::format("{} heads are to have a window, and the model has {}; allowed: 1 to {}",
                                     encoding.window.heads, model.shape().heads, model.shape().heads)};
  }
  const std::int64_t tokens = longest_sequence();
  if (encoding.is_randomized() && tokens > encoding.max_position) {
    return ConfigProblem{
        {"encoding.max_position"},
        fmt::format(
            "{} randomized positions are too few for the {} tokens of {}'s longest sequence; raise it "
            "to {}, or train and test on shorter lengths",
            encoding.max_position, tokens, task.name, tokens)};
  }
  return encoding.entry().problem({model.shape(), tokens, encoding.position_limit(), encoding.all_options(),
                                   encoding.dape, encoding.positions});
}

void RunConfig::check() const {
  if (const auto found = problem()) throw Error(found->message());
}

std::int64_t RunConfig::longest_training_sequence() const {
  const std::unique_ptr<Task> created = create_task(task);
  std::int64_t longest = 0;
  // A greater length need not be the longer sequence.
  for (std::int64_t length = training.first_length; length <= training.last_length; ++length) {
    longest = std::max(longest, tokens_of(*created, length));
  }
  return longest;
}

std::int64_t RunConfig::longest_sequence() const {
  const std::unique_ptr<Task> created = create_task(task);
  std::int64_t longest = longest_training_sequence();
  for (const std::int64_t length : evaluation.lengths()) {
    longest = std::max(longest, tokens_of(*created, length));
  }
  return longest;
}

std::string RunConfig::foreign_name() const {
  return is_foreign() ? model.all_options().as<ForeignOptions>().name : "";
}

bool is_tested_within_training(const RunConfig& config) {
  return config.evaluation.lengths().front() <= config.training.last_length;
}

std::vector<FieldRecord> list_fields(const RunConfig& config) { return list_fields(fields_of(config)); }

std::string to_yaml(const RunConfig& config) { return write_fields(fields_of(config)); }

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
