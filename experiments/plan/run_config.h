#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/field_list.h"
#include "core/config/fields.h"
#include "core/config/node.h"
#include "experiments/plan/cell_key.h"
#include "experiments/plan/encoding_config.h"
#include "experiments/plan/evaluation_config.h"
#include "experiments/plan/execution_config.h"
#include "experiments/plan/task_config.h"
#include "models/settings/model_entry.h"

namespace che {

enum class RateSchedule : std::uint8_t { kConstant, kCosine };

// One training length for the whole batch, uniform over first_length .. last_length, each step.
struct TrainingConfig {
  std::int64_t steps = 200'000;
  // Update n (from 1) of the first warmup() is made at the fraction n / warmup() of the learning rate, as is
  // usual for post-norm transformers (arXiv 1706.03762, section 5.3). Then the schedule begins: all of the
  // rate, or a half cosine down to `final_rate` of it at the last step.
  std::int64_t warmup_steps = 0;  // For a text, 0 is 1 % of the steps.
  RateSchedule schedule = RateSchedule::kConstant;
  double final_rate = 0.1;
  std::int64_t batch_size = 128;
  std::int64_t first_length = 1;
  std::int64_t last_length = 40;
  double clip_norm = 1.0;   // Largest Euclidean norm of a replica's gradient.
  double beta2 = 0.999;     // Adam averages squared gradients with it.
  double weight_decay = 0;  // Decoupled (arXiv 1711.05101); not of LayerNorms and the biases of linear maps.
  double dropout = 0.1;
  bool of_text = false;  // RunConfig sets it.

  std::int64_t warmup() const;
  // Whether a step is made as it is in a run of more steps.
  bool is_begin_of_longer_run() const;

  void visit_fields(FieldVisitor& visit);
};

// The files that are written next to the results.
struct LogConfig {
  std::int64_t every_steps = 100;  // Training steps between two rows of metrics.csv.
  // Training steps between two losses on the validation part of a text; 0: none.
  std::int64_t validation_steps = 0;
  bool tensorboard = false;  // Whether the run's folder gets a TensorBoard event file.
  bool of_text = false;      // RunConfig sets it.

  void visit_fields(FieldVisitor& visit);
};

// A complete description of one run, or of what the predictions of a model outside che are for. Only the
// task, the name, the seeds and the evaluation of such a model are known, and the other members mean nothing.
struct RunConfig {
  TaskConfig task;  // At its default where a text is set.
  TextConfig text;  // Not set where a task is.
  ModelConfig model;
  EncodingConfig encoding;  // At its default where the model takes none.
  std::int64_t seed = 0;    // Initial parameters and dropout.
  double learning_rate = 3e-4;
  std::int64_t data_seed = 0;  // Lengths, batches, positions in training.
  TrainingConfig training;
  EvaluationConfig evaluation;
  ExecutionConfig execution;
  LogConfig log;

  // Every field, once, with its role, help and limits.
  void visit_fields(FieldVisitor& visit);

  bool has_text() const { return text.is_set(); }
  // The name of the task or the text, as ids begin with.
  const std::string& subject() const { return has_text() ? text.name : task.name; }
  // The row of a table that the run stands in. A text has one for each test length.
  TaskLabel row_label() const;
  // Whether this program still draws the samples that the config means.
  bool is_drawn() const { return has_text() || che::is_drawn(task); }

  bool is_foreign() const { return !model.entry().is_trained; }
  // The name of a model outside che; empty for another.
  std::string foreign_name() const;

  // The name of the run's column in tables: the encoding, or the model where it takes none.
  EncodingForm column_form() const;
  EncodingLabel column_label() const;

  // Values that do not fit together: heads that do not divide the width, reversed lengths, an encoding that
  // cannot serve the lengths asked for. Nothing when all fit.
  std::optional<ConfigProblem> problem() const;
  // A setting without effect, which a run of an earlier version may have.
  std::optional<ConfigProblem> idle_setting() const;

  // Throws Error where there is such a problem.
  void check() const;

  // Tokens (input and output symbols) of the longest sequence in training, and in training or evaluation.
  std::int64_t longest_training_sequence() const;
  std::int64_t longest_sequence() const;
};

// The defaults of a config that has the same kind of model and, if any, the same text. Naming a text sets
// other defaults of training, evaluation and model than a task has.
RunConfig defaults_of(const RunConfig& config);

// Settings are applied by increasing rank. Those that decide which others there are come first: the kind of
// model, and of two the one that is wider.
std::ptrdiff_t setting_rank(const Setting& setting);

// Returns the run with other "key=value" settings. Another kind of model keeps the settings of the model that
// are not defaults. Throws Error (usage), also where that kind has no such setting.
RunConfig with_settings(const RunConfig& run, const std::vector<std::string>& settings);

// Whether a run is tested at a length that is not beyond those that it is trained on.
bool is_tested_within_training(const RunConfig& config);

// Says why a model outside che cannot be called so. A name is 1 to 60 letters, digits, '_', '-' and '.', and
// does not start with '.' or '-'. It is no encoding of che, because it stands next to these in tables. Empty
// where it can.
std::string foreign_name_problem(std::string_view name);

// Every field of `config` with its value.
std::vector<FieldRecord> list_fields(const RunConfig& config);

// Complete YAML that parse_run_config reads back to an equal config.
std::string to_yaml(const RunConfig& config);

// Reads what to_yaml wrote. `source`, a file's path, is for messages.
RunConfig parse_run_config(std::string_view yaml, const std::string& source);

}  // namespace che
