// The module che_tasks._core: tasks, suites and their samples for Python.
#include <fmt/format.h>

#include <new>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/version.h"
#include "experiments/plan/evaluation_config.h"
#include "python/che_tasks/bindings.h"
#include "tasks/declared/task_definition.h"
#include "tasks/suite.h"
#include "tasks/symbols.h"

namespace che {
namespace {

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

std::uint64_t seed_of(const char* what, std::int64_t seed) {
  if (seed < 0 || seed > kMaxSeed) {
    throw Error(fmt::format("{}: {} is out of range; allowed: 0 to {}", what, seed, kMaxSeed));
  }
  return static_cast<std::uint64_t>(seed);
}

std::optional<TaskDefinition> read_declared(const std::string& name_or_file, const OptionValues& options) {
  if (!is_task_file(name_or_file)) return std::nullopt;
  if (!options.empty())
    throw Error(fmt::format("{}: a task that a file declares has no options", name_or_file));
  return read_task_file(name_or_file);
}

std::optional<TaskDefinition> parse_declared(const TaskConfig& config) {
  if (!config.is_declared()) return std::nullopt;
  TaskDefinition declared = parse_task_definition(config.definition, config.name);
  declared.description = config.description;
  return declared;
}

py::dict describe(const Suite& suite) {
  py::dict description;
  description["name"] = suite.name;
  description["summary"] = suite.summary;
  description["tasks"] = py::tuple(py::cast(suite.tasks));
  description["first_training_length"] = suite.first_training_length;
  description["last_training_length"] = suite.last_training_length;
  description["lengths"] = py::tuple(py::cast(suite.lengths()));
  description["samples"] = suite.samples;
  description["evaluation_seed"] = suite.evaluation_seed;
  return description;
}

}  // namespace

BoundTask::BoundTask(const std::string& name_or_file, const OptionValues& options)
    : declared_(read_declared(name_or_file, options)),
      options_(options),
      task_(declared_ ? make_task(*declared_) : create_task(name_or_file, options)) {}

BoundTask::BoundTask(const TaskConfig& config)
    : declared_(parse_declared(config)),
      options_(declared_ ? OptionValues() : config.options.values()),
      task_(create_task(config)) {}

py::dict BoundTask::describe() const {
  py::dict description;
  description["name"] = task_->name();
  description["level"] = std::string(level_name(task_->level()));
  description["input_symbols"] = shown_symbols(task_->input_symbols());
  description["output_symbols"] = shown_symbols(task_->output_symbols());
  description["chance"] = task_->chance();
  if (declared_) {
    const bool at_each = declared_->answer == AnswerKind::kStates || declared_->answer == AnswerKind::kOutput;
    description["summary"] = declared_->description;
    description["output_length"] = at_each ? "L" : "1";
    description["permutation_invariant"] = false;
    description["version"] = declared_->version;
  } else {
    const TaskEntry& entry = Registry<TaskEntry>::instance().get(task_->name());
    description["summary"] = entry.summary;
    description["output_length"] = entry.output_length;
    description["permutation_invariant"] = entry.permutation_invariant;
    description["version"] = entry.version;
  }
  return description;
}

py::tuple BoundTask::draw(const BatchKey& key, std::int64_t length, std::int64_t count) const {
  Batch batch;
  {
    const py::gil_scoped_release unlocked;
    check_length(*task_, length);
    check_count("count", count);
    sample_batch(*task_, key, length, count, batch);
  }
  return to_arrays(std::move(batch));
}

py::tuple BoundTask::sample(std::int64_t length, std::int64_t count, std::int64_t seed) const {
  return draw(
      {.seed = seed_of("seed", seed), .purpose = Purpose::kData, .step = static_cast<std::uint64_t>(length)},
      length, count);
}

py::tuple BoundTask::test_samples(std::int64_t length, std::int64_t samples, std::int64_t seed) const {
  seed_of("seed", seed);
  return draw(evaluation_key(seed, length, 0), length, samples);
}

py::tuple BoundTask::training_batch(std::int64_t step, std::int64_t batch_size, std::int64_t first_length,
                                    std::int64_t last_length, std::int64_t data_seed) const {
  Batch batch;
  {
    const py::gil_scoped_release unlocked;
    check_length(*task_, first_length);
    check_length(*task_, last_length);
    if (first_length > last_length) {
      throw Error(fmt::format("first_length {} is above last_length {}", first_length, last_length));
    }
    check_count("batch_size", batch_size);
    // Random streams count steps in 32 bits.
    constexpr std::int64_t kLastStep = (std::int64_t{1} << 32) - 1;
    if (step < 0 || step > kLastStep) {
      throw Error(fmt::format("step: {} is out of range; allowed: 0 to {}", step, kLastStep));
    }
    const TrainingBatchSettings settings{.data_seed = seed_of("data_seed", data_seed),
                                         .batch_size = batch_size,
                                         .first_length = first_length,
                                         .last_length = last_length};
    che::training_batch(*task_, settings, step, batch);
  }
  const std::int64_t length = batch.length;
  return py::make_tuple(length) + to_arrays(std::move(batch));
}

}  // namespace che

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  using namespace py::literals;
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const che::Error& error) {
      const bool is_usage = error.kind() == che::ErrorKind::kUsage;
      PyErr_SetString(is_usage ? PyExc_ValueError : PyExc_OSError, error.what());
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError, "out of memory; ask for fewer or shorter samples");
    }
  });
  module.attr("version") = che::program_version();
  module.def("task_names", [] { return che::Registry<che::TaskEntry>::instance().names(); });
  module.def("suites", [] {
    py::list all;
    for (const che::Suite& suite : che::suites()) all.append(che::describe(suite));
    return all;
  });
  module.def(
      "suite", [](const std::string& name) { return che::describe(che::find_suite(name)); }, "name"_a);
  py::class_<che::BoundTask>(module, "Task")
      .def(py::init<const std::string&, const che::OptionValues&>(), "task"_a, "options"_a)
      .def("describe", &che::BoundTask::describe)
      .def("sample", &che::BoundTask::sample, "length"_a, "count"_a, "seed"_a)
      .def("test_samples", &che::BoundTask::test_samples, "length"_a, "samples"_a, "seed"_a)
      .def("training_batch", &che::BoundTask::training_batch, "step"_a, "batch_size"_a, "first_length"_a,
           "last_length"_a, "data_seed"_a)
      // For the worker processes of a loader of data.
      .def(py::pickle(
          [](const che::BoundTask& task) {
            return py::make_tuple(task.task().name(), task.options(), task.definition());
          },
          [](const py::tuple& state) {
            che::TaskConfig config;
            config.name = state[0].cast<std::string>();
            config.definition = state[2].cast<std::string>();
            if (config.is_declared()) return che::BoundTask(config);
            return che::BoundTask(config.name, state[1].cast<che::OptionValues>());
          }));
  che::bind_experiments(module);
}
