#include "experiments/result_csv.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "experiments/csv.h"

namespace che {
namespace {

std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

// A percentage of two decimals as the fraction with four that is nearest to it.
std::optional<double> fraction(const std::optional<double>& percent) {
  if (!percent) return std::nullopt;
  return std::round(*percent * 100) / 10'000;
}

}  // namespace

std::string cells_csv(const ResultTable& table) {
  std::string text = "level,task,encoding,cell,runs,max,mean,sd,median,chance,paper\n";
  for (const TableRow& row : table.rows) {
    for (const std::string& encoding : table.encodings) {
      const TableCell* cell = table.cell(row.task, encoding);
      if (cell == nullptr) continue;
      std::optional<double> max, mean, deviation, median;
      if (cell->scores) {
        max = cell->scores->max;
        mean = cell->scores->mean;
        deviation = cell->scores->deviation;
        median = cell->scores->median;
      }
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{}\n", row.level,
                     csv_field(row.task), csv_field(encoding), cell->id, cell->finished.size(), number(max),
                     number(mean), number(deviation), number(median), number(row.chance),
                     number(fraction(cell->paper)));
    }
  }
  return text;
}

std::string runs_csv(const ResultTable& table) {
  std::string text =
      "run,task,encoding,seed,learning_rate,steps,state,score,training_loss,training_accuracy,"
      "training_seconds,evaluation_seconds,git_commit,device,updated,error\n";
  for (const TableRun& run : table.runs) {
    std::optional<double> loss, accuracy;
    if (run.last_metrics) {
      loss = run.last_metrics->loss;
      accuracy = run.last_metrics->accuracy;
    }
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", run.id,
                   csv_field(run.task), csv_field(run.encoding), run.config.seed, run.config.learning_rate,
                   run.status.step, run.status.state, number(run.score), number(loss), number(accuracy),
                   run.status.training_seconds, run.status.evaluation_seconds,
                   csv_field(run.status.git_commit), csv_field(run.status.device),
                   csv_field(run.status.updated), csv_field(run.status.error));
  }
  return text;
}

}  // namespace che
