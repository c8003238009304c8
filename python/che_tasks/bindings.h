#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/config/fields.h"
#include "experiments/plan/run_config.h"
#include "tasks/declared/task_definition.h"
#include "tasks/task.h"

namespace che {

namespace py = pybind11;

// A task as Python holds it. Samples are drawn without the GIL; arrays are numpy arrays of uint8 that own
// their memory. Every member throws Error (usage) for bad arguments, which Python sees as ValueError.
class BoundTask {
 public:
  // A registered task, or the path of a file that declares one.
  BoundTask(const std::string& name_or_file, const OptionValues& options);
  explicit BoundTask(const TaskConfig& config);

  const Task& task() const { return *task_; }
  const OptionValues& options() const { return options_; }
  // The text of a declared task; empty for a registered one.
  std::string definition() const { return declared_ ? declared_->canonical() : ""; }

  py::dict describe() const;
  // (input, output, mask), each (samples, symbols).
  py::tuple sample(std::int64_t length, std::int64_t count, std::int64_t seed) const;
  py::tuple test_samples(std::int64_t length, std::int64_t samples, std::int64_t seed) const;
  // (length, input, output, mask)
  py::tuple training_batch(std::int64_t step, std::int64_t batch_size, std::int64_t first_length,
                           std::int64_t last_length, std::int64_t data_seed) const;

 private:
  py::tuple draw(const BatchKey& key, std::int64_t length, std::int64_t count) const;

  std::optional<TaskDefinition> declared_;
  OptionValues options_;
  std::shared_ptr<const Task> task_;
};

// Adds what reads configs, and files of samples and predictions.
void bind_experiments(py::module_& module);

}  // namespace che
