#include "tables/status_table.h"

#include <fmt/format.h>

#include "core/number_text.h"

namespace che {

Table status_table(const ExperimentStatus& status, const std::string& name) {
  Table table{
      .title = fmt::format("State of the runs of the experiment {}.", name), .printed = {}, .data = {}};
  table.printed.columns = {{.title = "task", .number = false},
                           {.title = "encoding", .number = false},
                           {.title = "seed"},
                           {.title = "learning rate"},
                           {.title = "state", .number = false},
                           {.title = "step"},
                           {.title = "steps"},
                           {.title = "measured"},
                           {.title = "lengths"},
                           {.title = "detail", .number = false}};
  table.printed.notes = {
      {NoteKind::kReading,
       "Steps done and asked for; test lengths measured and asked for. Folders that cannot be "
       "opened are not shown."}};
  table.data.columns = {"run",   "task", "encoding", "seed",     "data_seed", "learning_rate",
                        "state", "step", "steps",    "measured", "lengths",   "detail"};
  for (const RunProgress& run : status.progress) {
    table.printed.rows.push_back({.group = "",
                                  .cells = {{.text = run.task},
                                            {.text = run.encoding},
                                            {.text = fmt::format("{}", run.seed)},
                                            {.text = real_text(run.learning_rate)},
                                            {.text = run.state},
                                            {.text = fmt::format("{}", run.step)},
                                            {.text = fmt::format("{}", run.steps)},
                                            {.text = fmt::format("{}", run.measured)},
                                            {.text = fmt::format("{}", run.lengths)},
                                            {.text = run.detail}}});
    table.data.rows.push_back({run.id, run.task, run.encoding, run.seed, run.data_seed, run.learning_rate,
                               run.state, run.step, run.steps, static_cast<std::int64_t>(run.measured),
                               static_cast<std::int64_t>(run.lengths), run.detail});
  }
  return table;
}

}  // namespace che
