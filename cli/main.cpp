#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/computing.h"
#include "cli/process_setup.h"
#include "cli/usage_error.h"
#include "core/error.h"
#include "core/number_text.h"
#include "core/text.h"
#include "core/version.h"

namespace {

using che::Action;

// In the order in which help shows them.
void add_commands(CLI::App& app, Action& action) {
  using Add = std::function<void(CLI::App&, Action&)>;
  const auto add_group = [&](const std::string& name, const std::vector<Add>& commands) {
    for (const Add& add : commands) {
      add(app, action);
      app.get_subcommands({}).back()->group(name);
    }
  };
  const auto computing = [](const char* name, const char* description) -> Add {
    return [name, description](CLI::App& program, Action& of_command) {
      che::fill_computing_command(*program.add_subcommand(name, description), of_command);
    };
  };
  add_group("Run experiments", {che::add_run_command, che::add_submit_command, che::add_status_command,
                                che::add_evaluate_command, che::add_prune_command});
  add_group(
      "Look at results",
      {che::add_table_command, che::add_plot_command, che::add_report_command,
       computing("bias", "Draw what a trained run's encoding adds to its attention logits, for test samples"),
       che::add_time_command});
  add_group("Look at tasks, encodings and configs",
            {che::add_list_command, che::add_sample_command,
             computing("encoding",
                       "Print the table of an untrained encoding: its bias, its rotations or what it adds"),
             che::add_check_command});
  add_group("Measure models outside che", {che::add_export_command, che::add_score_command});
  add_group("Publish results", {che::add_bundle_command, che::add_verify_command});
  add_group("Measure this machine",
            {computing("bench", "Time training steps or evaluated batches on this machine"),
             computing("selftest", "Compare a GPU with the CPU, and time it")});
  add_group("", {che::add_task_command,  // Hidden.
                 computing("worker",
                           "Work on one job: runs that differ only in seed and learning rate (started by "
                           "`run`)")});
}

// Refuses empty values, which a shell's unset variable leaves behind, and reads whole numbers as configs do:
// CLI11 would take 010 for 8 and a number that is too large for the largest one.
void check_values(CLI::App& app) {
  const auto check = [](CLI::Option& option, const std::function<std::string(const std::string&)>& problem) {
    // As a transformation it comes before an option's own checks.
    option.transform(CLI::Validator([problem](const std::string& value) { return problem(value); }, ""));
  };
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() == 0) continue;
      const std::string type = option->get_type_name();
      const bool is_integer = type.find("INT") == 0 || type.find("UINT") == 0;
      if (is_integer || type.find("FLOAT") == 0) {
        check(*option, [is_integer](const std::string& value) -> std::string {
          double number = 0;  // Options say themselves what they do with inf and nan.
          if (is_integer ? che::parse_integer(value).has_value() : CLI::detail::lexical_cast(value, number)) {
            return "";
          }
          return fmt::format("got {}; allowed: {}", che::one_line(value),
                             is_integer ? "a whole number in decimal digits, below 2^63" : "a number");
        });
      }
      // The check that is added last comes first.
      check(*option, [](const std::string& value) {
        return std::string(value.empty() ? "is empty; give it a value" : "");
      });
    }
  }
}

// Prints one line on standard error, if that can be written; returns `code`.
int fail(int code, const std::string& message) {
  std::fputs(fmt::format("che: {}\n", message).c_str(), stderr);
  return code;
}

// The exit code.
int run(int argc, char** argv) {
  CLI::App app{"che: Chomsky Hierarchy Evaluation of positional encodings"};
  app.set_version_flag("--version", fmt::format("che {} ({})", che::program_version(), che::git_commit()));
  app.require_subcommand(1);
  Action action;
  add_commands(app, action);
  app.footer("`che COMMAND --help` lists what a command takes.");
  check_values(app);
  int code = 0;
  try {
    app.parse(argc, argv);
    code = action();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      const std::string problem = che::usage_problem(app, error, {argv + std::min(argc, 1), argv + argc});
      const auto commands = app.get_subcommands();
      const bool in_command = !commands.empty() && commands[0]->get_name() == argv[1];
      return fail(2, fmt::format("{}\nRun `che {}--help` for more.", che::one_line(problem, che::kWholeText),
                                 in_command ? commands[0]->get_name() + " " : ""));
    }
    code = app.exit(error);  // --help, --version
  } catch (const std::system_error&) {
    che::check_output_was_written();  // fmt::print threw it.
    if (std::ferror(stdout) == 0) throw;
  }
  che::check_output_was_written();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    che::set_up_process();
    return run(argc, argv);
  } catch (const che::Error& error) {
    return fail(error.kind() == che::ErrorKind::kUsage ? 2 : 1, che::one_line(error.what(), che::kWholeText));
  } catch (const std::exception& error) {
    return fail(1, che::one_line(che::describe_failure(error), che::kWholeText));
  }
}
