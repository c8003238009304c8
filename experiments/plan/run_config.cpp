#include "experiments/plan/run_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/config/field_list.h"
#include "core/config/reader.h"
#include "core/text.h"
#include "experiments/plan/run_workload.h"
#include "models/architectures/foreign.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

constexpr std::int64_t kMaxLogSteps = 1'000'000'000;
constexpr std::size_t kMaxForeignName = 60;

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
  if (config.has_text()) return std::nullopt;
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

// Sets the fields of a task's defaults to those of a text's.
void take_text_defaults(RunConfig& config) {
  const auto change = [](auto& value, const auto& of_task, const auto& of_text) {
    if (value == of_task) value = of_text;
  };
  const TrainingConfig training;
  change(config.training.first_length, training.first_length, 128);
  change(config.training.last_length, training.last_length, 128);
  change(config.training.dropout, training.dropout, 0.0);
  change(config.training.beta2, training.beta2, 0.95);
  change(config.training.weight_decay, training.weight_decay, 0.1);
  change(config.training.schedule, training.schedule, RateSchedule::kCosine);
  const EvaluationConfig evaluation;
  change(config.evaluation.samples, evaluation.samples, 64);
  const bool has_own_lengths = config.evaluation.lengths() != evaluation.lengths();
  if (!has_own_lengths) config.evaluation.listed_lengths = {128, 256, 512, 1024, 2048, 4096, 8192};
  change(config.model.kind, ModelConfig().kind, std::string("decoder"));
  if (config.model.kind == "decoder") {
    change(config.model.shape().block, ModelShape().block, BlockForm::kPreNorm);
  }
}

}  // namespace

std::int64_t TrainingConfig::warmup() const {
  constexpr std::int64_t kShare = 100;
  return of_text && warmup_steps == 0 ? (steps + kShare - 1) / kShare : warmup_steps;
}

bool TrainingConfig::is_begin_of_longer_run() const {
  return schedule == RateSchedule::kConstant && warmup() == warmup_steps;
}

void TrainingConfig::visit_fields(FieldVisitor& visit) {
  const std::int64_t longest = max_length(of_text);
  visit.integer({"steps", "updates of the parameters; 0 measures the untrained model"}, steps, 0, kMaxSteps);
  visit.integer({.name = "warmup_steps",
                 .help = "first steps over which the learning rate rises linearly from 0",
                 .zero_word = of_text ? "auto" : ""},
                warmup_steps, of_text ? 1 : 0, kMaxSteps);
  visit.choice({"schedule", "of the learning rate behind the warm-up"}, schedule, {"constant", "cosine"});
  visit.real({"final_rate", "share of the learning rate at the last step of a cosine"}, final_rate, 0, 1);
  visit.integer({"batch_size", "samples per step"}, batch_size, 1, 1'000'000);
  visit.integer({"first_length", "shortest training length"}, first_length, 1, longest);
  visit.integer({"last_length", "longest training length"}, last_length, 1, longest);
  visit.real({"clip_norm", "largest Euclidean norm of the gradient"}, clip_norm, 1e-12, 1e12);
  visit.real({"beta2", "Adam's decay of the mean square of the gradient"}, beta2, 0, 0.999999999);
  visit.real({"weight_decay", "decoupled decay of parameters other than LayerNorms and biases"}, weight_decay,
             0, 1);
  visit.real({"dropout", "probability that a feature is dropped in training"}, dropout, 0, 0.99);
}

void LogConfig::visit_fields(FieldVisitor& visit) {
  visit.integer({"every_steps", "training steps between two rows of metrics"}, every_steps, 1, kMaxLogSteps);
  if (of_text) {
    visit.integer(
        {"validation_steps", "training steps between two losses on the validation part; 0 for none"},
        validation_steps, 0, kMaxLogSteps);
  }
  visit.boolean({"tensorboard", "whether to write an event file for TensorBoard"}, tensorboard);
}

void RunConfig::visit_fields(FieldVisitor& visit) {
  visit.role(Role::kCell);
  const bool had_text = has_text();
  visit.component(
      {.name = "text", .help = "a corpus that is modelled, in place of a task", .named_by = "corpus"},
      [&](std::string_view named) { text.reset(named); }, fields_of(text));
  if (has_text() && !had_text) take_text_defaults(*this);
  training.of_text = evaluation.of_text = log.of_text = has_text();
  if (has_text()) {
    const auto refuse_task = [&](std::string_view) {
      throw Error(
          fmt::format("the run models the text {}; allowed: a task or a text, never both", text.name));
    };
    visit.component({"task", "what is learned"}, refuse_task, [](FieldVisitor&) {});
  } else {
    visit.component(
        {"task", "what is learned"}, [&](std::string_view named) { task.reset(named); }, fields_of(task));
  }
  visit.group({"model", "what is trained"}, fields_of(model));
  if (model.entry().takes_encoding) {
    visit.component(
        {"encoding", "positional encoding"}, [&](std::string_view named) { encoding.reset(named); },
        fields_of(encoding));
  } else {
    const auto refuse = [&](std::string_view) {
      throw Error(fmt::format("model.kind {} takes no encoding; leave the key out", model.kind));
    };
    visit.component({"encoding", "positional encoding"}, refuse, [](FieldVisitor&) {});
  }
  visit.role(Role::kRepetition);
  visit.integer({"seed", "of initial parameters and dropout"}, seed, 0, kMaxSeed);
  if (!is_foreign()) {
    visit.real({"learning_rate", "of Adam, the highest of training.schedule"}, learning_rate, 1e-12, 10);
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

TaskLabel RunConfig::row_label() const {
  if (!has_text()) return task.label();
  TaskLabel label{.name = text.name};
  const std::string first =
      training.first_length < training.last_length ? fmt::format("{}..", training.first_length) : "";
  label.settings.push_back(
      {.path = "task.trained", .value = fmt::format("{}{}", first, training.last_length)});
  const std::vector<std::int64_t> lengths = evaluation.lengths();
  if (lengths.size() == 1)
    label.settings.push_back({.path = "task.length", .value = std::to_string(lengths[0])});
  return label;
}

RunConfig defaults_of(const RunConfig& config) {
  RunConfig defaults;
  defaults.task = config.task.with_defaults();
  if (config.has_text()) {
    defaults.text = config.text;
    defaults.text.documents = TextConfig().documents;
    defaults.model.kind = config.model.kind;
    take_text_defaults(defaults);
    defaults.training.of_text = defaults.evaluation.of_text = defaults.log.of_text = true;
  }
  defaults.model.kind = config.model.kind;
  return defaults;
}

std::ptrdiff_t setting_rank(const Setting& setting) {
  const std::string& path = setting.path;
  return path == "model" || path == "model.kind" ? -1 : std::ranges::count(path, '.');
}

RunConfig with_settings(const RunConfig& run, const std::vector<std::string>& settings) {
  constexpr const char* kExample = "training.steps=100";
  std::vector<Setting> parsed;
  parsed.reserve(settings.size());
  for (const std::string& text : settings) parsed.push_back(parse_setting(text, kExample));
  std::ranges::stable_sort(parsed, {}, setting_rank);
  RunConfig changed = run;
  for (const Setting& setting : parsed) {
    const bool is_again = std::ranges::count(parsed, setting.path, &Setting::path) > 1;
    if (is_again) throw Error(fmt::format("{}: is set twice; keep one of them", setting.path));
    assign_path(setting.path, setting.value, fields_of(changed));
    if (setting.path != "model.kind" || changed.model.kind == run.model.kind) continue;
    const std::vector<FieldRecord> defaults = list_fields(fields_of(run.model.entry().options));
    for (const FieldRecord& field : list_fields(fields_of(run.model.all_options()))) {
      const bool is_default = std::ranges::any_of(defaults, [&](const FieldRecord& other) {
        return other.path == field.path && other.value == field.value;
      });
      if (is_default) continue;
      const Setting kept = parse_setting(fmt::format("model.{}={}", field.path, field.value), kExample);
      assign_path(kept.path, kept.value, fields_of(changed));
    }
  }
  return changed;
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
    return "allowed: a name of " + plain_name_form(kMaxForeignName);
  }
  // The headings of other columns of tables.
  constexpr std::array kHeadings{"chance", "constant", "frequent", "level", "paper", "position", "task"};
  if (std::ranges::count(kHeadings, name) > 0) {
    return fmt::format("'{0}' heads another column of tables; give the model another name, such as my_{0}",
                       name);
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

std::optional<ConfigProblem> RunConfig::idle_setting() const {
  const auto of_text = has_text() ? evaluation.text.idle_setting() : std::nullopt;
  return of_text ? of_text : encoding.idle_setting();
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
  if (execution.has_bf16() && !entry.takes_encoding) {
    return ConfigProblem{{"execution.precision", "model.kind"},
                         fmt::format("bf16 is for transformers; got {}; set fp32 or auto", model.kind)};
  }
  if (auto problem = reversed_lengths("training", training.first_length, training.last_length))
    return problem;
  if (has_text() && !entry.is_causal) {
    return ConfigProblem{
        {"model.kind", "text"},
        fmt::format(
            "in a model of kind {} a token sees those that it is to predict; allowed with a text: decoder",
            model.kind)};
  }
  if (log.validation_steps % log.every_steps != 0) {
    return ConfigProblem{{"log.validation_steps", "log.every_steps"},
                         fmt::format("{} is no multiple of every_steps, {}, at which a row of metrics ends",
                                     log.validation_steps, log.every_steps)};
  }
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
  if (has_text() && encoding.attention_scale != AttentionScale::kSqrtD && training.last_length < 2) {
    return ConfigProblem{{"encoding.attention_scale", "training.last_length"},
                         "windows of training have 1 token, whose logarithm is 0; allowed: 2 tokens or more"};
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
            encoding.max_position, tokens, subject(), tokens)};
  }
  return encoding.entry().problem({model.shape(), tokens, encoding.position_limit(), encoding.all_options(),
                                   encoding.dape, encoding.positions});
}

void RunConfig::check() const {
  if (const auto found = problem()) throw Error(found->message());
}

std::int64_t RunConfig::longest_training_sequence() const {
  const auto workload = create_workload(*this);
  return workload->tokens(workload->longest_training_length());
}

std::int64_t RunConfig::longest_sequence() const {
  const auto workload = create_workload(*this);
  std::int64_t longest = longest_training_sequence();
  for (const std::int64_t length : workload->lengths()) longest = std::max(longest, workload->tokens(length));
  return longest;
}

std::string RunConfig::foreign_name() const {
  return is_foreign() ? model.all_options().as<ForeignOptions>().name : "";
}

bool is_tested_within_training(const RunConfig& config) {
  // A text is tested at the training length on purpose.
  return !config.has_text() && config.evaluation.lengths().front() <= config.training.last_length;
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
