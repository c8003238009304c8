#include "cli/reading_options.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/files.h"

namespace che {

void add_only_option(CLI::App& command, std::vector<std::string>& only) {
  command
      .add_option(
          "--only", only,
          "choose matching runs only: task=parity_check, encoding=[rope,kerple], seed=0:4, or (where a "
          "config is read) a variant's label; given several times, all must match")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_read_runs(CLI::App& command, ReadRuns& runs) {
  command.add_option("EXPERIMENT_DIR", runs.folder, "folder that `che run` wrote")->required();
  add_only_option(command, runs.only);
}

CLI::Option* add_output_option(CLI::App& command, std::string& output, const std::string& help) {
  return command.add_option("-o,--output", output, help);
}

TerminalStyle standard_output_style() {
  winsize window{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return {};
  return {.width = window.ws_col, .escapes = true};
}

void PrintedOutput::write(const std::string& text) const {
  if (file.empty()) {
    fmt::print("{}", text);
  } else {
    write_output(file, text);
  }
}

void add_printed_output(CLI::App& command, PrintedOutput& output) {
  command
      .add_option(
          "--format", output.format,
          "terminal, md (Markdown), tex (LaTeX, booktabs): rounded, for people; csv, json: unrounded, for "
          "programs")
      ->check(CLI::IsMember(table_formats()))
      ->capture_default_str();
  add_output_option(command, output.file, "file to write instead of printing");
}

}  // namespace che
