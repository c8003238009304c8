#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "cli/listing.h"
#include "core/registry.h"
#include "tasks/declared/task_definition.h"
#include "tasks/declared/task_files.h"
#include "tasks/symbols.h"
#include "tasks/task.h"

namespace che {
namespace {

void print_line(std::string_view key, std::string_view value) {
  if (!value.empty()) fmt::print("{:<14}  {}\n", key, value);
}

void print_symbols(const Task& task) {
  print_line("level", level_name(task.level()));
  print_line("input", shown_symbols(task.input_symbols()));
  print_line("output", shown_symbols(task.output_symbols()));
}

// Lengths of the training and the test samples of the benchmark, and beyond.
void print_lengths(const Task& task) {
  for (const std::int64_t length : {1, 2, 5, 10, 40, 100, 500, 1000}) {
    const std::string problem = task.length_problem(length);
    const std::string chance =
        fmt::format("{} symbols, chance {:.4f}", task.input_length(length), task.chance_at(length));
    print_line(fmt::format("length {}", length), problem.empty() ? chance : problem);
  }
}

void print_declared(TaskDefinition definition) {
  print_line("task", fmt::format("{} (version {}, definition {})", definition.name, definition.version,
                                 definition.digest()));
  print_line("description", definition.description);
  print_line("source", definition.source);
  print_line("answer", word_of(kAnswers, definition.answer));
  print_line("sample", word_of(kSamplings, definition.sampling));
  print_line("group", definition.group);
  print_line("states",
             fmt::format(
                 "{}{}", definition.automaton.numbers.size(),
                 definition.automaton.sink ? ", and a rejecting sink that missing transitions lead to" : ""));
  const std::unique_ptr<Task> task = make_task(std::move(definition));
  print_symbols(*task);
  print_lengths(*task);
}

}  // namespace

void print_task(const std::string& name_or_file) {
  if (is_task_file(name_or_file)) {
    print_declared(read_task_file(name_or_file));
    return;
  }
  const TaskEntry& entry = registered_task(name_or_file);
  print_line("task", fmt::format("{} (version {})", entry.name, entry.version));
  print_line("description", entry.summary);
  const std::unique_ptr<Task> task = create_task(name_or_file);
  print_symbols(*task);
  print_line("output length", fmt::format("{}, for input of length L", entry.output_length));
  print_line("chance", fmt::format("{}", task->chance()));
  print_line("source", entry.source);
  for (const std::string& pitfall : entry.pitfalls) print_line("pitfall", pitfall);
  for (std::size_t i = 0; i < entry.changes.size(); ++i) {
    print_line(fmt::format("version {}", i + 1), entry.changes[i]);
  }
  fmt::print("\n{}\n", entry.bibtex);
}

}  // namespace che
