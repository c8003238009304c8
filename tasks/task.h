#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"
#include "core/random.h"
#include "core/registry.h"

namespace che {

// The greatest length that a task is asked for.
inline constexpr std::int64_t kMaxLength = 1'000'000;

// Level of the Chomsky hierarchy, as the benchmark groups its tasks; a text has none.
enum class Level { kRegular, kDcf, kCs, kText };

std::string_view level_name(Level level);  // "regular", "dcf", "cs", "text"

// The properties of a task apart from its samples.
struct TaskTraits {
  std::string name;  // As configs and tables call it.
  Level level = Level::kRegular;
  double chance = 0;       // Accuracy of guessing.
  std::string stream_key;  // Keys the random streams of its samples.
};

// One formal-language task: a generator of (input, output) pairs of symbols. Stateless after
// construction; every function may be called from several threads.
class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  const std::string& name() const { return traits_.name; }
  Level level() const { return traits_.level; }
  double chance() const { return traits_.chance; }
  // Tasks with one key draw from the same random streams.
  const std::string& stream_key() const { return traits_.stream_key; }

  // One printable character per symbol id ("01234+-*" ...), see tasks/symbols.h; the size is the number of
  // symbols. The input alphabet does not hold the model's empty symbol.
  virtual std::string_view input_symbols() const = 0;
  virtual std::string_view output_symbols() const = 0;

  // Symbols really produced for a sample of `length` (1 .. kMaxLength).
  virtual std::int64_t input_length(std::int64_t length) const { return length; }
  virtual std::int64_t output_length(std::int64_t length) const = 0;

  // Why there are no samples of a length; empty where there are. Allowed for lengths 1 .. kMaxLength.
  virtual std::string length_problem(std::int64_t /*length*/) const { return {}; }

  // Accuracy of the best constant answer to samples of a length, where the task knows it; else chance().
  virtual double chance_at(std::int64_t /*length*/) const { return chance(); }

  // Draws one sample. The spans have exactly input_length and output_length elements; every one is
  // written, with a symbol id.
  virtual void sample(RandomStream& random, std::int64_t length, std::span<std::uint8_t> input,
                      std::span<std::uint8_t> output) const = 0;

  // Whether accuracy counts the output only up to and including its first terminator.
  virtual bool ends_at_terminator() const { return false; }

 private:
  friend std::unique_ptr<Task> with_traits(std::unique_ptr<Task> task, TaskTraits traits);

  TaskTraits traits_;
};

// `task` with these traits. create_task gives them to registered tasks; whoever makes a task in another way
// gives them too, before it is sampled.
std::unique_ptr<Task> with_traits(std::unique_ptr<Task> task, TaskTraits traits);

// Symbol that ends the output of tasks with `ends_at_terminator()`, and a pitfall of these tasks.
inline constexpr std::uint8_t kTerminator = 2;
inline constexpr const char* kTerminatorPitfall =
    "The output ends at a terminator; what follows is padding, which accuracy does not count. A copy that "
    "pads with a digit and counts it measures another task.";

// The paper that published the benchmark's tasks, and its BibTeX entry of several lines.
inline constexpr const char* kBenchmarkPaper = "Neural Networks and the Chomsky Hierarchy, arXiv 2207.02098";
extern const char* const kBenchmarkBibtex;

struct TaskEntry {
  std::string name;
  Level level;
  std::string summary;        // One line.
  std::string output_length;  // Symbols of the output, a formula in the length L.
  double chance;              // Accuracy of guessing, as the paper gives it.
  // Where copies made by hand and papers differ, one sentence each.
  std::vector<std::string> pitfalls = {};
  // Marked with a dagger in Table 2 of the DAPE paper (arXiv 2405.14722): a task that asks for little or
  // nothing of the order of its input. The paper's claims are about the others.
  bool permutation_invariant = false;
  // The generator's version, which is raised with every change of the samples that it draws. So results of
  // old samples and of new ones never stand in one cell. tests/golden/suites.txt has samples of every
  // version.
  int version = 1;
  // Says what each version draws. Tests compare counts over samples of the first one, such as those of
  // symbols and depths, with counts that were recorded from the released program. They cannot see every
  // difference.
  std::vector<std::string> changes = {"counts over samples agree with the released program's"};
  AnyOptions options = NoOptions();  // The defaults.
  std::function<std::unique_ptr<Task>(const AnyOptions& options)> make;
  std::string source = kBenchmarkPaper;  // The paper that published it, with its arXiv number.
  std::string bibtex = kBenchmarkBibtex;

  static const char* kind() { return "task"; }
};

// The registry entry's `make` of a task that is built from its Options, or from nothing.
template <class T, class Options = NoOptions>
std::unique_ptr<Task> make_task(const AnyOptions& options) {
  if constexpr (std::is_same_v<Options, NoOptions>) {
    return std::make_unique<T>();
  } else {
    return std::make_unique<T>(options.as<Options>());
  }
}

// The task of an entry; its streams are keyed by its name. Empty options are the defaults.
std::unique_ptr<Task> create_task(const TaskEntry& entry, const AnyOptions& options);

// A registered task with `options` set and the others at their defaults. Throws Error for an unknown name and
// for bad options.
std::unique_ptr<Task> create_task(std::string_view name, const OptionValues& options = {});

// Throws Error unless 1 <= length <= kMaxLength and the task has samples of that length.
void check_length(const Task& task, std::int64_t length);

// Samples of one task and length, row after row.
struct Batch {
  std::int64_t length = 0;
  std::int64_t size = 0;             // Samples.
  std::int64_t input_length = 0;     // Symbols per sample.
  std::int64_t output_length = 0;    // Symbols per sample.
  std::vector<std::uint8_t> input;   // (size, input_length)
  std::vector<std::uint8_t> output;  // (size, output_length)
  std::vector<std::uint8_t> mask;    // (size, output_length), 1 = counts for accuracy
};

// Says which batch it is among all that are ever drawn. `seed` is combined with the task's stream key. `step`
// is the training step or, in evaluation, the length. Its rows are the examples from `first_example` on.
struct BatchKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::kData;
  std::uint64_t step = 0;
  std::uint64_t first_example = 0;
};

// The key of test samples of a length: `seed` is evaluation.seed of a config. Whatever evaluates a model,
// exports samples or scores predictions draws them with it.
inline BatchKey evaluation_key(std::int64_t seed, std::int64_t length, std::int64_t first_example) {
  return {.seed = static_cast<std::uint64_t>(seed),
          .purpose = Purpose::kEvaluation,
          .step = static_cast<std::uint64_t>(length),
          .first_example = static_cast<std::uint64_t>(first_example)};
}

// Samples `size` examples in parallel (oneTBB, in the caller's arena). A row depends only on the task, its
// options, `key` and the row's example number, so any split of a batch and any number of threads give the
// same rows. Reuses the memory of `batch`. Throws Error for a bad length.
void sample_batch(const Task& task, const BatchKey& key, std::int64_t length, std::int64_t size,
                  Batch& batch);

// The settings of a run that its training batches depend on.
struct TrainingBatchSettings {
  std::uint64_t data_seed = 0;
  std::int64_t batch_size = 128;
  std::int64_t first_length = 1;
  std::int64_t last_length = 40;
};

// The length of every sample of a step's batch, uniform over the training lengths; depends on the stream key
// of the task, or of another workload, the data seed and the step (from 0) only.
std::int64_t training_length(const TrainingBatchSettings& settings, std::string_view stream_key,
                             std::int64_t step);

// Draws the batch of a step into `batch`, whose memory is reused.
void training_batch(const Task& task, const TrainingBatchSettings& settings, std::int64_t step, Batch& batch);

}  // namespace che
