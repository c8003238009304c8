#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/field_list.h"
#include "core/fields.h"
#include "models/encodings/dape_options.h"
#include "models/model_shape.h"

namespace che {

// Which task, with its options as text (see OptionValues).
struct TaskConfig {
  std::string name = "reverse_string";
  OptionValues options;

  // From a task's name; an empty string gives the defaults.
  void reset(std::string_view name);
  void visit_fields(FieldVisitor& visit);
};

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

  // [randomized_][dape_]NAME, what `reset` reads.
  std::string shorthand() const;

  // The shorthand followed by every setting that is off its default: "dape_kerple" or
  // "dape_kerple(dape.hidden=16)". What tables call a column.
  std::string label() const;
};

// One training length for the whole batch, uniform over first_length .. last_length, each step.
struct TrainingConfig {
  std::int64_t steps = 200'000;
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
  std::string eval_dropout = "off";  // "on" as in the released program.

  void visit_fields(FieldVisitor& visit);
  std::vector<std::int64_t> lengths() const;
};

// Samples that one evaluation batch holds (and one draw of randomized positions serves).
inline constexpr std::int64_t kEvaluationBatch = 64;

// How runs are computed; changes no result beyond rounding.
struct ExecutionConfig {
  std::string device = "cpu";
  std::string kernels = "fused";
  std::int64_t replicas = 1;       // Runs of one cell that train in lock-step.
  std::int64_t threads = 1;        // A job's threads.
  double checkpoint_seconds = 60;  // Between two checkpoints.
  double memory_gib = 2;           // What evaluation may use for activations.
  std::int64_t log_steps = 100;    // Training steps between two rows of metrics.csv.

  void visit_fields(FieldVisitor& visit);
};

// What is written beside the results.
struct LogConfig {
  std::string tensorboard = "false";  // Whether the run's folder gets a TensorBoard event file.

  void visit_fields(FieldVisitor& visit);
};

// A complete description of one run.
struct RunConfig {
  TaskConfig task;
  EncodingConfig encoding;
  std::int64_t seed = 0;  // Initial parameters and dropout.
  double learning_rate = 3e-4;
  std::int64_t data_seed = 0;  // Lengths, batches, positions in training.
  ModelShape model;
  TrainingConfig training;
  EvaluationConfig evaluation;
  ExecutionConfig execution;
  LogConfig log;

  // Every field, once, with its role, help and limits.
  void visit_fields(FieldVisitor& visit);

  // Throws Error for values that do not fit together: heads that do not divide the width, reversed
  // lengths, an encoding that cannot serve the lengths asked for. Its message starts with the key
  // path, or several ("model.width, model.heads: ..."), so that a caller can tell the line.
  void check() const;

  // Tokens (input and output symbols) of the longest sequence in training or evaluation.
  std::int64_t longest_sequence() const;
};

// Every field of `config` with its value.
std::vector<FieldRecord> list_fields(RunConfig config);

// Text of the fields of `roles` that are off their default, one "path=value" a line, sorted: what
// identity hashes.
std::string identity_text(const RunConfig& config, const std::vector<Role>& roles);

// Readable name and hash of the fields that determine the trained parameters:
// "reverse_string-dape_kerple-lr0.0003-seed0-1f2e3d4c5b6a". Only letters, digits, '.', '_', '-'.
std::string run_id(const RunConfig& config);

// Identity without seed and learning rate: runs with equal cells share a place in a table.
std::string cell_id(const RunConfig& config);

// Complete YAML that parse_run_config reads back to an equal config.
std::string to_yaml(const RunConfig& config);

// Reads what to_yaml wrote. `source`, a file's path, is for messages.
RunConfig parse_run_config(std::string_view yaml, const std::string& source);

}  // namespace che
