#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "core/random.h"
#include "core/registry.h"

namespace che {

// The lengths every task takes.
inline constexpr std::int64_t kMaxLength = 1'000'000;

// Place in the Chomsky hierarchy, as the benchmark groups its tasks.
enum class Level { kRegular, kDcf, kCs };

std::string_view level_name(Level level);  // "regular", "dcf", "cs"

// One formal-language task: a generator of (input, output) pairs of symbols. Stateless after
// construction; every function may be called from several threads.
class Task {
 public:
  virtual ~Task() = default;

  // One printable character per symbol id ("01234+-*" ...); the size is the number of symbols.
  // The input alphabet does not hold the model's empty symbol.
  virtual std::string_view input_symbols() const = 0;
  virtual std::string_view output_symbols() const = 0;

  // Symbols really produced for a sample of `length` (1 .. kMaxLength).
  virtual std::int64_t input_length(std::int64_t length) const { return length; }
  virtual std::int64_t output_length(std::int64_t length) const = 0;

  // Draws one sample. The spans have exactly input_length and output_length elements; every one is
  // written, with a symbol id.
  virtual void sample(RandomStream& random, std::int64_t length, std::span<std::uint8_t> input,
                      std::span<std::uint8_t> output) const = 0;

  // Whether accuracy counts the output only up to and including its first terminator.
  virtual bool ends_at_terminator() const { return false; }
};

// Symbol that ends the output of tasks with `ends_at_terminator()`.
inline constexpr std::uint8_t kTerminator = 2;

struct TaskEntry {
  std::string name;
  Level level;
  std::string summary;        // One line.
  std::string output_length;  // Symbols of the output, a formula in the length L.
  double chance;              // Accuracy of guessing, as the paper gives it.
  // From options in text.
  std::function<std::unique_ptr<Task>(const OptionValues&)> make;
  // Lets a visitor see its options.
  std::function<void(OptionValues&, FieldVisitor&)> visit = visit_options<NoOptions>;

  static const char* kind() { return "task"; }
};

// The registry entry's `make` of a task without options. Throws Error when it is given some.
template <class T>
std::unique_ptr<Task> make_task(const OptionValues& values) {
  if (!values.empty())
    throw Error("unknown option '" + values.begin()->first + "'; this task has no options");
  return std::make_unique<T>();
}

// A task with default options, or with `options`. Throws Error for an unknown name.
std::unique_ptr<Task> create_task(std::string_view name, const OptionValues& options = {});

// Throws Error unless 1 <= length <= kMaxLength; `task` is for the message.
void check_length(std::string_view task, std::int64_t length);

// Samples of one task and length, row after row.
struct Batch {
  std::int64_t length = 0;
  std::int64_t size = 0;             // Samples.
  std::int64_t input_length = 0;     // Symbols a sample.
  std::int64_t output_length = 0;    // Symbols a sample.
  std::vector<std::uint8_t> input;   // (size, input_length)
  std::vector<std::uint8_t> output;  // (size, output_length)
  std::vector<std::uint8_t> mask;    // (size, output_length), 1 = counts for accuracy
};

// Where a batch stands among all that are ever drawn: `seed` is keyed by the task inside; `step` is
// the training step or, in evaluation, the length; rows are the examples first_example ...
struct BatchKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::kData;
  std::uint64_t step = 0;
  std::uint64_t first_example = 0;
};

// Samples `size` examples in parallel (oneTBB, in the caller's arena). A row depends on the task,
// its options, `key` and the row's example number alone, so any split of a batch and any number of
// threads give the same rows. Reuses the memory of `batch`. Throws Error for a bad length.
void sample_batch(const Task& task, std::string_view task_name, const BatchKey& key, std::int64_t length,
                  std::int64_t size, Batch& batch);

}  // namespace che
