#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/field_list.h"
#include "core/config/fields.h"
#include "experiments/plan/cell_key.h"
#include "experiments/plan/encoding_config.h"
#include "experiments/plan/execution_config.h"
#include "models/settings/model_entry.h"
#include "tasks/task.h"

namespace che {

// Which task, with its options, or one that a file declares.
struct TaskConfig {
  std::string name = "reverse_string";
  AnyOptions options = {};
  std::int64_t version = 1;  // The version of a registered task's generator that draws the samples.
  // The canonical text of a declared task (see TaskDefinition); empty for a registered one.
  std::string definition = {};
  std::string description = {};  // A declared task's, one line; determines nothing.

  // From a task's name; an empty string gives the defaults. The name of the declared task that this is
  // changes nothing.
  void reset(std::string_view name);
  void visit_fields(FieldVisitor& visit);

  bool is_declared() const { return !definition.empty(); }

  // The same task with every setting at its default.
  TaskConfig with_defaults() const;

  // The task with every setting that is off its default.
  TaskLabel label() const;
};

// The version of the task that a config names: of its generator, or of its definition.
std::int64_t task_version(const TaskConfig& config);

// Whether this program still draws the samples that the config means.
bool is_drawn(const TaskConfig& config);

// The task of a config, in the version that this program draws. Throws Error (usage) for an unknown name.
std::unique_ptr<Task> create_task(const TaskConfig& config);

// One training length for the whole batch, uniform over first_length .. last_length, each step.
struct TrainingConfig {
  std::int64_t steps = 200'000;
  // Update n (from 1) of the first `warmup_steps` is made at the fraction n / warmup_steps of the learning
  // rate, as is usual for post-norm transformers (arXiv 1706.03762, section 5.3); every later one at all of
  // it.
  std::int64_t warmup_steps = 0;
  std::int64_t batch_size = 128;
  std::int64_t first_length = 1;
  std::int64_t last_length = 40;
  double clip_norm = 1.0;  // Largest Euclidean norm of a replica's gradient.
  double dropout = 0.1;

  void visit_fields(FieldVisitor& visit);
};

struct EvaluationConfig {
  std::int64_t first_length = 41;  // 42 reproduces a slice in the released program.
  std::int64_t last_length = 500;
  std::int64_t length_step = 1;
  std::int64_t samples = 512;  // Per length; a multiple of kEvaluationBatch.
  std::int64_t seed = 0;
  bool eval_dropout = false;  // true as in the released program.
  // Test lengths that need not follow a range, ascending; the three above mean nothing where there are some.
  std::vector<std::int64_t> listed_lengths = {};
  // Steps of training after which the model is evaluated too, ascending.
  std::vector<std::int64_t> at_steps = {};
  bool predictions = false;  // Whether the run's predictions of its test samples are stored.

  void visit_fields(FieldVisitor& visit);
  std::vector<std::int64_t> lengths() const;  // Ascending.
};

// The same evaluation in the only way of writing that all evaluations at these test lengths share: the last
// length is one that is measured, a single length has step 1, and a list with even steps is a range. 17..80
// in steps of 30 and [17, 47, 77] become 17..77.
EvaluationConfig with_exact_lengths(EvaluationConfig evaluation);

// "17..77 in steps of 30", "50, 100, 200, 400".
std::string lengths_text(const EvaluationConfig& evaluation);

// Samples that one evaluation batch holds (and one draw of randomized positions serves).
inline constexpr std::int64_t kEvaluationBatch = 64;

// The files that are written next to the results.
struct LogConfig {
  std::int64_t every_steps = 100;  // Training steps between two rows of metrics.csv.
  bool tensorboard = false;        // Whether the run's folder gets a TensorBoard event file.

  void visit_fields(FieldVisitor& visit);
};

// A complete description of one run, or of what the predictions of a model outside che are for. Only the
// task, the name, the seeds and the evaluation of such a model are known, and the other members mean nothing.
struct RunConfig {
  TaskConfig task;
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

  bool is_foreign() const { return !model.entry().is_trained; }
  // The name of a model outside che; empty for another.
  std::string foreign_name() const;

  // The name of the run's column in tables: the encoding, or the model where it takes none.
  EncodingForm column_form() const;
  EncodingLabel column_label() const;

  // Values that do not fit together: heads that do not divide the width, reversed lengths, an encoding that
  // cannot serve the lengths asked for. Nothing when all fit.
  std::optional<ConfigProblem> problem() const;

  // Throws Error where there is such a problem.
  void check() const;

  // Tokens (input and output symbols) of the longest sequence in training, and in training or evaluation.
  std::int64_t longest_training_sequence() const;
  std::int64_t longest_sequence() const;
};

// Whether a run is tested at a length that is not beyond those that it is trained on.
bool is_tested_within_training(const RunConfig& config);

// Why a model outside che cannot be called so: a name is 1 to 60 letters, digits, '_', '-' and '.', does not
// start with '.' or '-' and is no encoding of che, next to which it stands in tables. Empty where it can.
std::string foreign_name_problem(std::string_view name);

// Every field of `config` with its value.
std::vector<FieldRecord> list_fields(const RunConfig& config);

// Complete YAML that parse_run_config reads back to an equal config.
std::string to_yaml(const RunConfig& config);

// Reads what to_yaml wrote. `source`, a file's path, is for messages.
RunConfig parse_run_config(std::string_view yaml, const std::string& source);

}  // namespace che
