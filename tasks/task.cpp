#include "tasks/task.h"

#include <fmt/core.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/error.h"

namespace che {

const char* const kBenchmarkBibtex = R"(@inproceedings{deletang2023neural,
  title     = {Neural Networks and the {Chomsky} Hierarchy},
  author    = {Del{\'e}tang, Gr{\'e}goire and Ruoss, Anian and Grau-Moya, Jordi and Genewein, Tim and
               Wenliang, Li Kevin and Catt, Elliot and Cundy, Chris and Hutter, Marcus and Legg, Shane and
               Veness, Joel and Ortega, Pedro A.},
  booktitle = {International Conference on Learning Representations},
  year      = {2023},
  url       = {https://arxiv.org/abs/2207.02098}
})";

std::string_view level_name(Level level) {
  switch (level) {
    case Level::kRegular:
      return "regular";
    case Level::kDcf:
      return "dcf";
    case Level::kCs:
      return "cs";
    case Level::kText:
      return "text";
  }
  throw Error("level of a task out of range", ErrorKind::kRuntime);
}

std::unique_ptr<Task> create_task(const TaskEntry& entry, const AnyOptions& options) {
  return with_traits(
      entry.make(options.or_defaults(entry.options)),
      {.name = entry.name, .level = entry.level, .chance = entry.chance, .stream_key = entry.name});
}

std::unique_ptr<Task> create_task(std::string_view name, const OptionValues& options) {
  const TaskEntry& entry = Registry<TaskEntry>::instance().get(name);
  if (!options.empty() && entry.options.values().empty()) {
    throw Error("unknown option '" + options.begin()->first + "'; this task has no options");
  }
  return create_task(entry, entry.options.with(options));
}

std::unique_ptr<Task> with_traits(std::unique_ptr<Task> task, TaskTraits traits) {
  task->traits_ = std::move(traits);
  return task;
}

void check_length(const Task& task, std::int64_t length) {
  if (length < 1 || length > kMaxLength) {
    throw Error(
        fmt::format("{}: length {} is out of range; allowed: 1 .. {}", task.name(), length, kMaxLength));
  }
  if (const std::string problem = task.length_problem(length); !problem.empty()) {
    throw Error(fmt::format("{}: {}", task.name(), problem));
  }
}

namespace {

// Symbols that one parallel piece of work produces at least: about as long to draw as a thread takes
// to wake up.
constexpr std::int64_t kSymbolsPerPiece = 8192;

void write_mask(std::span<const std::uint8_t> output, bool ends_at_terminator, std::uint8_t* mask) {
  std::size_t counted = output.size();
  if (ends_at_terminator) {
    const auto terminator = std::find(output.begin(), output.end(), kTerminator);
    counted = std::min(counted, static_cast<std::size_t>(terminator - output.begin()) + 1);
  }
  std::memset(mask, 1, counted);
  std::memset(mask + counted, 0, output.size() - counted);
}

}  // namespace

void sample_batch(const Task& task, const BatchKey& key, std::int64_t length, std::int64_t size,
                  Batch& batch) {
  check_length(task, length);
  // Random streams have so many samples, and sizes below stay far from overflow.
  constexpr std::int64_t kMaxSize = std::int64_t{1} << 32;
  static_assert(kMaxSize <= std::numeric_limits<std::int64_t>::max() / (16 * kMaxLength));
  if (size < 0 || size > kMaxSize) {
    throw Error(fmt::format("{}: a batch of {} samples; allowed: 0 .. {}", task.name(), size, kMaxSize));
  }
  batch.length = length;
  batch.size = size;
  batch.input_length = task.input_length(length);
  batch.output_length = task.output_length(length);
  const auto input_length = static_cast<std::size_t>(batch.input_length);
  const auto output_length = static_cast<std::size_t>(batch.output_length);
  batch.input.resize(static_cast<std::size_t>(size) * input_length);
  batch.output.resize(static_cast<std::size_t>(size) * output_length);
  batch.mask.resize(static_cast<std::size_t>(size) * output_length);

  const std::uint64_t seed = keyed_seed(key.seed, task.stream_key());
  const bool ends_at_terminator = task.ends_at_terminator();
  const auto sample_rows = [&](const tbb::blocked_range<std::int64_t>& rows) {
    for (std::int64_t row = rows.begin(); row < rows.end(); ++row) {
      const auto index = static_cast<std::size_t>(row);
      RandomStream random(seed, key.purpose, key.step, key.first_example + index);
      const std::span input(batch.input.data() + index * input_length, input_length);
      const std::span output(batch.output.data() + index * output_length, output_length);
      task.sample(random, length, input, output);
      write_mask(output, ends_at_terminator, batch.mask.data() + index * output_length);
    }
  };
  const std::int64_t rows_per_piece =
      std::max<std::int64_t>(1, kSymbolsPerPiece / (batch.input_length + batch.output_length));
  if (size <= rows_per_piece) {
    sample_rows({0, size});
  } else {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, size, static_cast<std::size_t>(rows_per_piece)),
                      sample_rows, tbb::simple_partitioner());
  }
}

std::int64_t training_length(const TrainingBatchSettings& settings, std::string_view stream_key,
                             std::int64_t step) {
  RandomStream random(keyed_seed(settings.data_seed, stream_key), Purpose::kLengths,
                      static_cast<std::uint64_t>(step));
  const std::int64_t choices = settings.last_length - settings.first_length + 1;
  return settings.first_length + random.below(static_cast<std::uint64_t>(choices));
}

void training_batch(const Task& task, const TrainingBatchSettings& settings, std::int64_t step,
                    Batch& batch) {
  const BatchKey key{settings.data_seed, Purpose::kData, static_cast<std::uint64_t>(step), 0};
  sample_batch(task, key, training_length(settings, task.stream_key(), step), settings.batch_size, batch);
}

}  // namespace che
