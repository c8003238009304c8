#include "experiments/exchange/sample_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/version.h"
#include "experiments/exchange/archive.h"
#include "tasks/declared/task_definition.h"
#include "tasks/symbols.h"

namespace che {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

// Samples drawn before they are written: bounds the memory.
constexpr std::int64_t kSymbolsPerPart = 1 << 18;

// A file of numpy's format npz, which numpy.load reads: a zip archive of uncompressed arrays (NEP 1). Written
// from the front, array by array; equal arrays give equal bytes.
class NpzWriter {
 public:
  using Write = std::function<void(std::string_view)>;
  explicit NpzWriter(Write write) : write_(std::move(write)) {}

  // A matrix of dtype uint8, row after row.
  void add_matrix(std::string_view name, std::int64_t rows, std::int64_t columns,
                  std::span<const std::uint8_t> values) {
    add(name, "|u1", fmt::format("({}, {})", rows, columns), std::as_bytes(values));
  }
  // Numbers of dtype int64.
  void add_numbers(std::string_view name, std::span<const std::int64_t> values) {
    add(name, "<i8", fmt::format("({},)", values.size()), std::as_bytes(values));
  }
  // One text of ASCII, of dtype S: `bytes(file[name])` gives it.
  void add_text(std::string_view name, std::string_view text) {
    add(name, fmt::format("|S{}", text.size()), "()", std::as_bytes(std::span(text)));
  }
  void finish() { write_(zip_.finish()); }

 private:
  void add(std::string_view name, std::string_view dtype, std::string_view shape,
           std::span<const std::byte> values) {
    // An array's own header: magic, version 1.0, its size, and a Python dictionary that blanks pad to a
    // multiple of 64.
    std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", dtype, shape);
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    std::string content("\x93NUMPY\x01\x00", 8);
    content += static_cast<char>(header.size() & 0xFF);
    content += static_cast<char>(header.size() >> 8);
    content += header;
    content.append(reinterpret_cast<const char*>(values.data()), values.size());
    zip_.add(fmt::format("{}.npy", name), content);
    write_(zip_.take());
  }

  Write write_;
  Packer zip_{Packer::Format::kZip};
};

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
