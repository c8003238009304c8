#include "experiments/exchange/sample_formats.h"

#include <fmt/format.h>

#include "core/error.h"
#include "experiments/exchange/npz_writer.h"
#include "tasks/symbols.h"
#include "tasks/task.h"

namespace che {

void write_npz_samples(const SampleHeader& header, const std::function<void(std::string_view)>& write) {
  const auto task = create_task(header);
  for (const std::int64_t length : header.lengths) check_length(*task, length);
  NpzWriter file(write);
  file.add_text("header", header_line(header));
  file.add_numbers("lengths", header.lengths);
  Batch batch;
  for (const std::int64_t length : header.lengths) {
    sample_batch(*task, evaluation_key(header.seed, length, 0), length, header.samples, batch);
    file.add_matrix(fmt::format("input_{}", length), batch.size, batch.input_length, batch.input);
    file.add_matrix(fmt::format("output_{}", length), batch.size, batch.output_length, batch.output);
    file.add_matrix(fmt::format("mask_{}", length), batch.size, batch.output_length, batch.mask);
  }
  file.finish();
}

void check_flare_samples(const SampleHeader& header) {
  const auto task = create_task(header);
  for (const std::int64_t length : header.lengths) {
    check_length(*task, length);
    if (task->output_length(length) == 1 && task->output_symbols().size() == 2) continue;
    throw Error(
        fmt::format("--format flare: {} answers with {} of {} symbols; the layout has one label, 0 or 1; use "
                    "jsonl or npz",
                    header.task, task->output_length(length), task->output_symbols().size()));
  }
}

void write_flare_samples(const SampleHeader& header,
                         const std::function<void(std::string_view)>& write_strings,
                         const std::function<void(std::string_view)>& write_labels) {
  check_flare_samples(header);
  const auto task = create_task(header);
  Batch batch;
  for (const std::int64_t length : header.lengths) {
    sample_batch(*task, evaluation_key(header.seed, length, 0), length, header.samples, batch);
    std::string strings;
    std::string labels;
    for (std::int64_t row = 0; row < batch.size; ++row) {
      for (std::int64_t i = 0; i < batch.input_length; ++i) {
        const auto at = static_cast<std::size_t>(row * batch.input_length + i);
        strings += shown_symbols(task->input_symbols().substr(batch.input[at], 1));
        strings += i + 1 < batch.input_length ? ' ' : '\n';
      }
      labels += batch.output[static_cast<std::size_t>(row)] == 1 ? "1\n" : "0\n";
    }
    write_strings(strings);
    write_labels(labels);
  }
}

}  // namespace che
