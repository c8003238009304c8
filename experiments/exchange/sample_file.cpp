#include "experiments/exchange/sample_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "core/version.h"
#include "tasks/declared/task_definition.h"
#include "tasks/symbols.h"
#include "tasks/task.h"

namespace che {
namespace {

// Samples drawn before they are written: bounds the memory.
constexpr std::int64_t kSymbolsPerPart = 1 << 18;

}  // namespace

std::unique_ptr<Task> create_task(const SampleHeader& header) {
  if (header.definition.empty()) return create_task(header.task, header.options);
  TaskDefinition definition = parse_task_definition(header.definition, "definition");
  if (definition.name != header.task) {
    throw Error(fmt::format("the definition is of '{}', the task is '{}'", definition.name, header.task));
  }
  if (!header.options.empty()) throw Error("a task with a definition has no options");
  return make_task(std::move(definition));
}

std::int64_t task_version(const SampleHeader& header) {
  if (header.definition.empty()) return Registry<TaskEntry>::instance().get(header.task).version;
  return parse_task_definition(header.definition, "definition").version;
}

std::string header_line(const SampleHeader& header) {
  const auto task = create_task(header);
  nlohmann::ordered_json first_line = {{"format", "che-samples/1"},
                                       {"task", header.task},
                                       {"task_version", task_version(header)},
                                       {"options", header.options},
                                       {"suite", header.suite},
                                       {"lengths", header.lengths},
                                       {"samples", header.samples},
                                       {"seed", header.seed},
                                       {"input_symbols", shown_symbols(task->input_symbols())},
                                       {"output_symbols", shown_symbols(task->output_symbols())},
                                       {"version", program_version()}};
  if (!header.definition.empty()) first_line["definition"] = header.definition;
  return first_line.dump();
}

void write_samples(const SampleHeader& header, const std::function<void(std::string_view)>& write) {
  const auto task = create_task(header);
  for (const std::int64_t length : header.lengths) check_length(*task, length);
  write(header_line(header) + "\n");
  Batch batch;
  fmt::memory_buffer text;
  for (const std::int64_t length : header.lengths) {
    const std::int64_t symbols = task->input_length(length) + 2 * task->output_length(length);
    const std::int64_t part = std::max<std::int64_t>(1, kSymbolsPerPart / symbols);
    for (std::int64_t first = 0; first < header.samples; first += batch.size) {
      sample_batch(*task, evaluation_key(header.seed, length, first), length,
                   std::min(part, header.samples - first), batch);
      text.clear();
      for (std::int64_t row = 0; row < batch.size; ++row) {
        fmt::format_to(std::back_inserter(text),
                       R"({{"length":{},"index":{},{}}})"
                       "\n",
                       length, first + row, json_members(batch, row));
      }
      write(std::string_view(text.data(), text.size()));
    }
  }
}

}  // namespace che
