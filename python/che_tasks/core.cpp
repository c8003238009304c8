// The tasks for Python. Arrays are numpy arrays of uint8 that own their memory; samples are drawn without the
// GIL.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tasks/declared/task_definition.h"
#include "tasks/symbols.h"
#include "tasks/task.h"

namespace che {
namespace {

namespace py = pybind11;
using Symbols = py::array_t<std::uint8_t, py::array::c_style>;

// (rows, columns), over the memory of `values`, which the array takes over.
Symbols to_array(std::vector<std::uint8_t>&& values, std::int64_t rows, std::int64_t columns) {
  auto* const owned = new std::vector<std::uint8_t>(std::move(values));
  const py::capsule owner(owned,
                          [](void* memory) { delete static_cast<std::vector<std::uint8_t>*>(memory); });
  return Symbols({rows, columns}, owned->data(), owner);
}

py::tuple to_arrays(Batch&& batch) {
  return py::make_tuple(to_array(std::move(batch.input), batch.size, batch.input_length),
                        to_array(std::move(batch.output), batch.size, batch.output_length),
                        to_array(std::move(batch.mask), batch.size, batch.output_length));
}

void check_count(const char* what, std::int64_t count) {
  if (count < 1) throw Error(fmt::format("{}: {} is out of range; allowed: 1 or more", what, count));
}

void check_seed(const char* what, std::int64_t seed) {
  if (seed < 0) throw Error(fmt::format("{}: {} is out of range; allowed: 0 or more", what, seed));
}

std::uint64_t seed_of(const char* what, std::int64_t seed) {
  check_seed(what, seed);
  return static_cast<std::uint64_t>(seed);
}

// A registered task, or one that a file declares.
std::unique_ptr<Task> make(const std::string& name_or_file, const OptionValues& options) {
  if (!is_task_file(name_or_file)) return create_task(name_or_file, options);
  if (!options.empty())
    throw Error(fmt::format("{}: a task that a file declares has no options", name_or_file));
  return make_task(read_task_file(name_or_file));
}

py::tuple draw(const std::string& name, const OptionValues& options, const BatchKey& key, std::int64_t length,
               std::int64_t count) {
  Batch batch;
  {
    const py::gil_scoped_release unlocked;
    const auto task = make(name, options);
    check_length(*task, length);
    check_count("count", count);
    sample_batch(*task, key, length, count, batch);
  }
  return to_arrays(std::move(batch));
}

py::tuple draw_training_batch(const std::string& name, const OptionValues& options, std::int64_t step,
                              std::int64_t batch_size, std::int64_t first_length, std::int64_t last_length,
                              std::int64_t data_seed) {
  Batch batch;
  {
    const py::gil_scoped_release unlocked;
    const auto task = make(name, options);
    check_length(*task, first_length);
    check_length(*task, last_length);
    if (first_length > last_length) {
      throw Error(fmt::format("first_length {} is above last_length {}", first_length, last_length));
    }
    check_count("batch_size", batch_size);
    // Random streams count steps in 32 bits.
    constexpr std::int64_t kLastStep = (std::int64_t{1} << 32) - 1;
    if (step < 0 || step > kLastStep) {
      throw Error(fmt::format("step: {} is out of range; allowed: 0 to {}", step, kLastStep));
    }
    const TrainingBatches batches{.data_seed = seed_of("data_seed", data_seed),
                                  .batch_size = batch_size,
                                  .first_length = first_length,
                                  .last_length = last_length};
    training_batch(*task, batches, step, batch);
  }
  const std::int64_t length = batch.length;
  return py::make_tuple(length) + to_arrays(std::move(batch));
}

// The parts of a description that a task does not have itself.
struct Description {
  std::string summary;
  std::string output_length;
  bool permutation_invariant = false;
  std::int64_t version = 1;
};

Description description_of(const std::string& name_or_file) {
  if (is_task_file(name_or_file)) {
    const TaskDefinition definition = read_task_file(name_or_file);
    const bool at_each = definition.answer == AnswerKind::kStates || definition.answer == AnswerKind::kOutput;
    return {.summary = definition.description,
            .output_length = at_each ? "L" : "1",
            .permutation_invariant = false,
            .version = definition.version};
  }
  const TaskEntry& entry = Registry<TaskEntry>::instance().get(name_or_file);
  return {.summary = entry.summary,
          .output_length = entry.output_length,
          .permutation_invariant = entry.permutation_invariant,
          .version = entry.version};
}

py::dict describe(const std::string& name_or_file) {
  const Description entry = description_of(name_or_file);
  const auto task = make(name_or_file, {});
  py::dict description;
  description["name"] = task->name();
  description["level"] = std::string(level_name(task->level()));
  description["summary"] = entry.summary;
  description["input_symbols"] = shown_symbols(task->input_symbols());
  description["output_symbols"] = shown_symbols(task->output_symbols());
  description["output_length"] = entry.output_length;
  description["chance"] = task->chance();
  description["permutation_invariant"] = entry.permutation_invariant;
  description["version"] = entry.version;
  return description;
}

}  // namespace
}  // namespace che

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  using namespace py::literals;
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const che::Error& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError, "out of memory; ask for fewer or shorter samples");
    }
  });
  module.def("names", [] { return che::Registry<che::TaskEntry>::instance().names(); });
  module.def("describe", &che::describe, "task"_a);
  module.def(
      "sample",
      [](const std::string& task, const che::OptionValues& options, std::int64_t length, std::int64_t count,
         std::int64_t seed) {
        const che::BatchKey key{.seed = che::seed_of("seed", seed),
                                .purpose = che::Purpose::kData,
                                .step = static_cast<std::uint64_t>(length)};
        return che::draw(task, options, key, length, count);
      },
      "task"_a, "options"_a, "length"_a, "count"_a, "seed"_a);
  module.def(
      "evaluation_set",
      [](const std::string& task, const che::OptionValues& options, std::int64_t length, std::int64_t samples,
         std::int64_t seed) {
        che::check_seed("seed", seed);
        return che::draw(task, options, che::evaluation_key(seed, length, 0), length, samples);
      },
      "task"_a, "options"_a, "length"_a, "samples"_a, "seed"_a);
  module.def("training_batch", &che::draw_training_batch, "task"_a, "options"_a, "step"_a, "batch_size"_a,
             "first_length"_a, "last_length"_a, "data_seed"_a);
}
