// Configs, and files of samples and predictions, for Python.
#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "core/config/field_list.h"
#include "core/config/node.h"
#include "core/error.h"
#include "core/number_text.h"
#include "experiments/exchange/predictions.h"
#include "experiments/exchange/sample_file.h"
#include "experiments/exchange/stored_predictions.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_workload.h"
#include "experiments/plan/sweep.h"
#include "experiments/store/run_rows.h"
#include "python/che_tasks/bindings.h"
#include "tasks/declared/task_definition.h"

namespace che {
namespace {

// A run of a config.
struct BoundRun {
  RunConfig config;
  BoundTask task;

  // Throws Error for a run of a text, of which the package has no samples.
  explicit BoundRun(RunConfig of) : config(std::move(of)), task(config.task) {
    if (config.has_text()) {
      throw Error(
          fmt::format("text: che_tasks has no samples of texts, and a run models {}; allowed: runs of tasks",
                      config.text.name));
    }
  }

  // Key path -> value, of every setting.
  py::dict settings() const {
    py::dict all;
    for (const FieldRecord& field : list_fields(config)) {
      py::object value = py::str(field.value);
      if (field.boolean) value = py::bool_(field.value == "true");
      if (field.number) {
        const std::optional<std::int64_t> integer = parse_integer(field.value);
        const std::optional<double> real = parse_real(field.value);
        // Others are words, such as auto.
        if (integer) {
          value = py::int_(*integer);
        } else if (real) {
          value = py::float_(*real);
        } else if (field.value.starts_with('[')) {
          py::list numbers;
          for (const ConfigNode& item : parse_setting("list=" + field.value, "").value.items) {
            numbers.append(py::int_(*parse_integer(item.text)));
          }
          value = numbers;
        }
      }
      if (!field.group) all[py::str(field.path)] = value;
    }
    return all;
  }

  BoundRun with_settings(const std::vector<std::string>& settings) const {
    BoundRun run(che::with_settings(config, settings));
    run.config.check();
    return run;
  }

  // (positions of the tokens, distances of tokens 0, 1, ... apart) of a layer in one forward pass; of test
  // samples, or of a training step.
  std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> positions(std::int64_t tokens,
                                                                            std::int64_t layer,
                                                                            std::int64_t step_or_length,
                                                                            std::int64_t batch,
                                                                            bool is_test) const {
    if (is_real(config.encoding.positions)) {
      throw Error(
          "encoding.positions: these are fractions, which che_tasks does not draw; allowed: contiguous, "
          "randomized");
    }
    const auto number = static_cast<std::uint64_t>(step_or_length);
    const Positions drawn =
        is_test ? create_positions(config, config.evaluation.seed, Purpose::kEvaluationPositions, number,
                                   static_cast<std::uint64_t>(batch))
                : create_positions(config, config.data_seed, Purpose::kPositions, number);
    const auto whole = [](const Positions::List& list) -> std::vector<std::int64_t> {
      return {list.begin(), list.end()};
    };
    return {whole(drawn.of_tokens(layer, tokens)), whole(drawn.of_offsets(layer, tokens))};
  }
};

py::tuple read_config(const std::string& file, const std::vector<std::string>& overrides) {
  Sweep sweep = read_sweep(file, overrides);
  py::list runs;
  for (RunConfig& run : sweep.runs) runs.append(BoundRun(std::move(run)));
  return py::make_tuple(sweep.name, sweep.description, runs);
}

std::string header_of(const BoundTask& task, const std::string& suite,
                      const std::vector<std::int64_t>& lengths, std::int64_t samples, std::int64_t seed) {
  return header_line({.task = task.task().name(),
                      .options = task.options(),
                      .definition = task.definition(),
                      .suite = suite,
                      .lengths = lengths,
                      .samples = samples,
                      .seed = seed});
}

py::dict describe(const ScoredPredictions& scored) {
  py::dict score;
  score["model"] = scored.model;
  score["model_seed"] = scored.seed;
  score["data_seed"] = scored.data_seed;
  score["task"] = scored.header.task;
  score["suite"] = scored.header.suite;
  score["samples"] = scored.header.samples;
  score["evaluation_seed"] = scored.header.seed;
  score["score"] = *mean_value(scored.rows);
  py::dict accuracy;
  for (const EvaluationRow& row : scored.rows) accuracy[py::int_(row.length)] = row.accuracy;
  score["accuracy"] = accuracy;
  const TaskConfig task = task_config(scored.header);
  py::dict options;
  for (const SettingValue& setting : task.label().settings) {
    options[py::str(setting.path.substr(setting.path.find('.') + 1))] = setting.value;
  }
  score["options"] = options;
  score["definition"] = task.is_declared() ? definition_digest(task.definition) : "";
  return score;
}

py::list score_all(const std::vector<std::string>& files, const std::string& results) {
  std::vector<ScoredPredictions> all;
  {
    const py::gil_scoped_release unlocked;
    all = score_files(files, results);
  }
  py::list scores;
  for (const ScoredPredictions& scored : all) scores.append(describe(scored));
  return scores;
}

}  // namespace

void bind_experiments(py::module_& module) {
  using namespace py::literals;
  py::class_<BoundRun>(module, "Run")
      .def("settings", &BoundRun::settings)
      .def("lengths", [](const BoundRun& run) { return run.config.evaluation.lengths(); })
      .def("id", [](const BoundRun& run) { return run_id(run.config); })
      .def("encoding", [](const BoundRun& run) { return run.config.column_label().text(); })
      .def("task", [](const BoundRun& run) { return run.task; })
      .def("with_settings", &BoundRun::with_settings, "settings"_a)
      .def("positions", &BoundRun::positions, "tokens"_a, "layer"_a, "step_or_length"_a, "batch"_a,
           "is_test"_a)
      .def(py::pickle([](const BoundRun& run) { return to_yaml(run.config); },
                      [](const std::string& yaml) { return BoundRun(parse_run_config(yaml, "run")); }));
  module.def("read_config", &read_config, "file"_a, "overrides"_a);
  module.def("header", &header_of, "task"_a, "suite"_a, "lengths"_a, "samples"_a, "seed"_a);
  module.def(
      "check_model_name",
      [](const std::string& name) {
        const std::string problem = foreign_name_problem(name);
        if (!problem.empty()) throw py::value_error(fmt::format("model: got '{}'; {}", name, problem));
      },
      "name"_a);
  module.def(
      "check_predictions_header",
      [](const std::string& line, const std::string& file) { check_predictions_header(line, file); },
      "line"_a, "file"_a);
  module.def("score", &score_all, "files"_a, "results"_a);
}

}  // namespace che
