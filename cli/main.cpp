#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>
#include <string>

#include "cli/commands.h"
#include "cli/usage_error.h"
#include "core/error.h"
#include "core/version.h"

namespace {

// What a shell's unset variable leaves behind names no file, folder or value.
void refuse_empty_values(CLI::App& app) {
  // As a transformation it comes before an option's own checks.
  const CLI::Validator is_not_empty(
      [](const std::string& value) { return std::string(value.empty() ? "is empty; give it a value" : ""); },
      "");
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() > 0) option->transform(is_not_empty);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"che: Chomsky Hierarchy Evaluation of positional encodings"};
  app.set_version_flag("--version", fmt::format("che {} ({})", che::program_version(), che::git_commit()));
  app.require_subcommand(1);
  che::Action action;
  che::add_run_command(app, action);
  che::add_status_command(app, action);
  che::add_evaluate_command(app, action);
  che::add_table_command(app, action);
  che::add_plot_command(app, action);
  che::add_report_command(app, action);
  che::add_check_command(app, action);
  che::add_list_command(app, action);
  che::add_sample_command(app, action);
  che::add_bias_command(app, action);
  che::add_encoding_command(app, action);
  che::add_bench_command(app, action);
  che::add_time_command(app, action);
  che::add_prune_command(app, action);
  che::add_worker_command(app, action);
  refuse_empty_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const std::string problem = che::usage_problem(app, error, {argv + std::min(argc, 1), argv + argc});
    const auto commands = app.get_subcommands();
    const bool in_command = !commands.empty() && commands[0]->get_name() == argv[1];
    fmt::print(stderr, "che: {}\nRun `che {}--help` for more.\n", problem,
               in_command ? commands[0]->get_name() + " " : "");
    return 2;
  }
  try {
    const int code = action();
    // Commands that compute show how they go on; who closes that keeps the results.
    static const std::set<std::string> computing = {"run", "evaluate", "worker"};
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (!written && !computing.contains(app.get_subcommands()[0]->get_name())) {
      throw che::Error(fmt::format("cannot write to standard output: {}", std::strerror(errno)),
                       che::Fault::kRuntime);
    }
    return code;
  } catch (const che::Error& error) {
    fmt::print(stderr, "che: {}\n", error.what());
    return error.fault() == che::Fault::kUsage ? 2 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "che: unexpected: {}\n", error.what());
    return 1;
  }
}
