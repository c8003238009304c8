#include "experiments/exchange/sample_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/version.h"
#include "tasks/task.h"
#include "tasks/text_form.h"

namespace che {
namespace {

// Samples drawn before they are written: bounds the memory.
constexpr std::int64_t kSymbolsPerPart = 1 << 18;

}  // namespace

void write_samples(const SampleHeader& header, const std::function<void(std::string_view)>& write) {
  const auto task = create_task(header.task, header.options);
  for (const std::int64_t length : header.lengths) check_length(*task, length);
  nlohmann::ordered_json first_line = {{"format", "che-samples/1"},
                                       {"task", header.task},
                                       {"options", header.options},
                                       {"suite", header.suite},
                                       {"lengths", header.lengths},
                                       {"samples", header.samples},
                                       {"seed", header.seed},
                                       {"input_symbols", task->input_symbols()},
                                       {"output_symbols", task->output_symbols()},
                                       {"version", program_version()}};
  write(first_line.dump() + "\n");
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
