#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/config/fields.h"
#include "experiments/plan/cell_key.h"
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

  // Returns the same task with every setting at its default.
  TaskConfig with_defaults() const;

  // The task with every setting that is off its default.
  TaskLabel label() const;
  // That label, with the definition's digest where a file declares the task.
  TaskLabel own_label() const;
};

// The version of the task that a config names: of its generator, or of its definition.
std::int64_t task_version(const TaskConfig& config);

// Whether this program still draws the samples that the config means.
bool is_drawn(const TaskConfig& config);

// The task of a config, in the version that this program draws. Throws Error (usage) for an unknown name.
std::unique_ptr<Task> create_task(const TaskConfig& config);

}  // namespace che
