#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/error.h"
#include "core/random.h"
#include "core/text.h"
#include "experiments/plan/evaluation_config.h"
#include "tasks/declared/task_definition.h"
#include "tasks/declared/task_files.h"
#include "tasks/symbols.h"
#include "tasks/task.h"
#include "texts/windows.h"

namespace che {
namespace {

struct SampleOptions {
  std::string task;
  std::int64_t length = 0;
  std::int64_t count = 10;
  std::int64_t seed = 0;
  std::string format = "text";
  std::vector<std::string> settings;  // key=value
};

// Symbols drawn before they are printed: bounds the memory of a long listing.
constexpr std::int64_t kSymbolsPerChunk = 1 << 18;

OptionValues task_options(const std::vector<std::string>& settings) {
  OptionValues options;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw Error(fmt::format("--set {}: expected key=value", setting));
    }
    const std::string key = setting.substr(0, equals);
    if (!options.emplace(key, setting.substr(equals + 1)).second) {
      throw Error(fmt::format("--set {}: '{}' is set twice", setting, key));
    }
  }
  return options;
}

// Returns false when the reader has closed the pipe, which is no error.
bool print(const fmt::memory_buffer& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return true;
  if (errno == EPIPE) return false;
  throw Error(fmt::format("cannot write samples: {}", std::strerror(errno)), ErrorKind::kRuntime);
}

// Prints windows of a corpus' train part, as its bytes.
int sample_corpus(const SampleOptions& options) {
  if (!options.settings.empty()) throw Error("--set: a corpus has no options");
  if (options.length < 1) throw Error(fmt::format("--length {}: allowed: 1 or more", options.length));
  const auto corpus = Corpus::open(corpus_folder(options.task));
  const TrainingWindows windows(*corpus, options.length, DocumentUse::kPacked,
                                keyed_seed(static_cast<std::uint64_t>(options.seed), corpus->card().name));
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(options.length));
  fmt::memory_buffer text;
  for (std::int64_t i = 0; i < options.count; ++i) {
    corpus->copy_tokens(windows.first_token(i), options.length, tokens.data());
    text.clear();
    if (options.format == "jsonl") {
      fmt::format_to(std::back_inserter(text), "{{\"text\":\"{}\",\"tokens\":[{}]}}\n", corpus->card().name,
                     fmt::join(tokens, ","));
    } else {
      fmt::format_to(std::back_inserter(text), "{}\n",
                     one_line(token_text(corpus->card(), tokens), kWholeText));
    }
    if (!print(text)) return 0;
  }
  return 0;
}

bool is_corpus(const std::string& name) {
  std::error_code ignored;
  return std::ranges::count(shipped_corpora(), name) > 0 ||
         std::filesystem::is_regular_file(std::filesystem::path(name) / CorpusCard::kFileName, ignored);
}

int sample(const SampleOptions& options) {
  if (is_corpus(options.task)) return sample_corpus(options);
  const OptionValues settings = task_options(options.settings);
  const bool is_file = is_task_file(options.task);
  if (!is_file) registered_task(options.task);  // Says what it knows of a misspelt name.
  if (is_file && !settings.empty()) throw Error("--set: a task of a file has no options; change the file");
  const auto task = is_file ? create_task_or_read(options.task) : create_task(options.task, settings);
  check_length(*task, options.length);

  const std::int64_t symbols = task->input_length(options.length) + task->output_length(options.length);
  const std::int64_t rows_per_chunk = std::max<std::int64_t>(1, kSymbolsPerChunk / symbols);
  Batch batch;
  fmt::memory_buffer text;
  for (std::int64_t first = 0; first < options.count; first += batch.size) {
    const BatchKey key{.seed = static_cast<std::uint64_t>(options.seed),
                       .purpose = Purpose::kData,
                       .step = static_cast<std::uint64_t>(options.length),
                       .first_example = static_cast<std::uint64_t>(first)};
    sample_batch(*task, key, options.length, std::min(rows_per_chunk, options.count - first), batch);
    text.clear();
    for (std::int64_t row = 0; row < batch.size; ++row) {
      if (options.format == "jsonl") {
        fmt::format_to(std::back_inserter(text),
                       R"({{"task":"{}","length":{},{}}})"
                       "\n",
                       task->name(), batch.length, json_members(batch, row));
      } else {
        fmt::format_to(std::back_inserter(text), "{}\n", text_form(*task, batch, row));
      }
    }
    if (!print(text)) return 0;
  }
  return 0;
}

}  // namespace

void add_sample_command(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("sample", "Print samples of a task, 'input -> output', or windows of a corpus");
  const auto options = set_action(*command, action, sample);
  command
      ->add_option("task", options->task,
                   "name of the task, 'che list tasks' shows them, or the .yaml file of one; or a corpus, "
                   "see 'che corpus'")
      ->required();
  command
      ->add_option("--length", options->length, fmt::format("length asked of the task, 1 .. {}", kMaxLength))
      ->required();
  command->add_option("--count", options->count, "samples")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 32))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed; length and seed determine the samples")
      ->check(CLI::Range(std::int64_t{0}, kMaxSeed))
      ->capture_default_str();
  command
      ->add_option(
          "--format", options->format,
          "text: in the characters that 'che list tasks' shows, without the padding behind a terminator, "
          "which accuracy ignores; jsonl: symbol ids with the accuracy mask, one object per line")
      ->check(one_of({"text", "jsonl"}))
      ->capture_default_str();
  command->add_option("--set", options->settings, "an option of the task, such as order=odd_first")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace che
