#include "experiments/plan/task_config.h"

#include <optional>
#include <string>
#include <string_view>

#include "core/text.h"
#include "tasks/declared/task_definition.h"
#include "tasks/declared/task_files.h"

namespace che {
namespace {

// Keeps the thread's last definition: runs of one task follow each other, and to read one of thousands of
// states takes a quarter of a second. The next call replaces what it refers to.
const TaskDefinition& last_definition(std::string_view definition) {
  static thread_local std::string text;
  static thread_local std::optional<TaskDefinition> read;
  if (!read || text != definition) {
    read = parse_task_definition(definition, "definition");
    text = definition;
  }
  return *read;
}

}  // namespace

void TaskConfig::reset(std::string_view new_name) {
  if (is_declared() && new_name == name) return;
  TaskConfig fresh;
  if (!new_name.empty()) {
    const TaskEntry& entry = task_of_config(new_name);
    fresh.name = entry.name;
    fresh.version = entry.version;
  }
  *this = std::move(fresh);
}

void TaskConfig::visit_fields(FieldVisitor& visit) {
  const std::string old_definition = definition;
  visit.text({"definition", "a task of your own, which a file declares"}, definition,
             [](std::string_view text) { return last_definition(text).canonical(); });
  if (definition != old_definition) {
    name = last_definition(definition).name;
    options = {};
  }
  if (is_declared()) {
    visit.choice({.name = "name", .help = "which task", .structural = true}, name, {name});
    visit.role(Role::kExecution);
    visit.text({"description", "what the task is, in one line"}, description, one_line_text);
    visit.role(Role::kCell);
    return;
  }
  const auto& registry = Registry<TaskEntry>::instance();
  const std::string old_name = name;
  visit.choice({.name = "name", .help = "which task", .structural = true}, name, registry.names());
  const TaskEntry& entry = registry.get(name);
  if (name != old_name) {
    options = entry.options;
    version = 1;
  }
  if (entry.version > 1) {
    visit.integer({"version", "of the generator; every version draws other samples"}, version, 1,
                  entry.version);
  }
  options = options.or_defaults(entry.options);
  options.visit_fields(visit);
}

std::int64_t task_version(const TaskConfig& config) {
  if (!config.is_declared()) return config.version;
  return last_definition(config.definition).version;
}

bool is_drawn(const TaskConfig& config) {
  return config.is_declared() || config.version == Registry<TaskEntry>::instance().get(config.name).version;
}

std::unique_ptr<Task> create_task(const TaskConfig& config) {
  return config.is_declared() ? make_task(last_definition(config.definition))
                              : create_task(Registry<TaskEntry>::instance().get(config.name), config.options);
}

TaskConfig TaskConfig::with_defaults() const {
  return {.name = name, .options = {}, .definition = definition, .description = description};
}

TaskLabel TaskConfig::label() const {
  const TaskConfig defaults = with_defaults();
  return {.name = name, .settings = settings_off_default("task", fields_of(*this), fields_of(defaults))};
}

TaskLabel TaskConfig::own_label() const {
  TaskLabel own = label();
  if (is_declared()) {
    own.settings.push_back({.path = "task.definition", .value = definition_digest(definition)});
  }
  return own;
}

}  // namespace che
