// Tasks that files declare: the head with the automaton inside, the automaton alone, and a symbol table.
// Whatever the text, it is read or refused in one line; and what is read is stored so that it is read back,
// has samples and chance.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "tasks/declared/finite_automaton.h"
#include "tasks/declared/task_definition.h"
#include "tasks/symbols.h"

namespace che {
namespace {

template <class Action>
void refuse_or_do(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (message.find('\n') != std::string_view::npos || error.kind() != ErrorKind::kUsage) std::abort();
  }
}

void use(const TaskDefinition& definition) {
  const std::string stored = definition.canonical();
  if (parse_task_definition(stored, "stored").canonical() != stored) std::abort();
  const std::unique_ptr<Task> task = make_task(definition);
  for (const std::int64_t length : {1, 2, 7, 30}) {
    if (!task->length_problem(length).empty()) continue;
    const double chance = task->chance_at(length);
    if (!(chance > 0 && chance <= 1 + 1e-9)) std::abort();
    Batch batch;
    sample_batch(*task, BatchKey{.seed = 1}, length, 4, batch);
    const auto within = [](const auto& symbols, std::size_t count) {
      return std::ranges::all_of(symbols, [count](std::uint8_t symbol) { return symbol < count; });
    };
    if (!within(batch.input, task->input_symbols().size())) std::abort();
    if (!within(batch.output, task->output_symbols().size())) std::abort();
    text_form(*task, batch, 0);
  }
}

void read_automaton(std::string_view text, std::string_view outputs) {
  const ConfigLocation origin{std::make_shared<const std::string>("x.att"), 1, 0};
  const FiniteAutomaton automaton = parse_att_text(text, origin, "ab", outputs);
  const std::string written = att_text(automaton, outputs);
  if (att_text(parse_att_text(written, origin, "ab", outputs), outputs) != written) std::abort();
}

}  // namespace
}  // namespace che

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  che::refuse_or_do([&] { che::use(che::parse_task_definition(text, "input")); });
  che::refuse_or_do([&] { che::read_automaton(text, ""); });
  che::refuse_or_do([&] { che::read_automaton(text, "xy"); });
  che::refuse_or_do([&] {
    che::parse_symbol_table(text, {std::make_shared<const std::string>("x.syms"), 1, 0});
  });
  return 0;
}
