#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/computing.h"
#include "cli/process_setup.h"
#include "core/error.h"
#include "core/number_text.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "core/version.h"

namespace che {
namespace {

// Leaves out of help which options exclude one another: an error says so where it matters.
struct ShortHelp : CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = Formatter::make_option_opts(option);
    return text.substr(0, text.find(" Excludes:"));
  }
};

// Adds them in the order in which help shows them.
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
      fill_computing_command(*program.add_subcommand(name, description), of_command);
    };
  };
  add_group("Run experiments", {add_run_command, add_submit_command, add_status_command, add_evaluate_command,
                                add_prune_command});
  add_group(
      "Look at results",
      {add_table_command, add_compare_command, add_agreement_command, add_plot_command, add_report_command,
       computing("bias", "Draw what a trained run's encoding adds to its attention logits, for test samples"),
       add_time_command});
  add_group("Look at tasks, encodings and configs",
            {add_list_command, add_sample_command, add_corpus_command,
             computing("encoding",
                       "Print the table of an untrained encoding: its bias, its rotations or what it adds"),
             add_check_command});
  add_group("Measure models outside che", {add_export_command, add_score_command});
  add_group("Publish results",
            {add_bundle_command, add_verify_command, add_unpack_command,
             computing("export-model", "Write the parameters of a trained run as a safetensors file")});
  add_group("Measure this machine",
            {computing("bench", "Time training steps or evaluated batches on this machine"),
             computing("selftest", "Compare a GPU with the CPU, and time it")});
  add_group("", {add_task_command,  // Hidden.
                 computing("most-replicas", "Measure how many runs a GPU trains at once (started by `run`)"),
                 computing("worker",
                           "Work on one job: runs that differ only in seed and learning rate (started by "
                           "`run`)")});
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Refuses empty values, which a shell's unset variable leaves behind, and options where a value was
// forgotten. Reads whole numbers as configs do: CLI11 would take 010 for 8 and a number that is too large for
// the largest one.
void check_values(CLI::App& app) {
  const auto check = [](CLI::Option& option, const std::function<std::string(const std::string&)>& problem) {
    // As a transformation it comes before an option's own checks.
    option.transform(CLI::Validator([problem](const std::string& value) { return problem(value); }, ""));
  };
  for (CLI::App* command : app.get_subcommands({})) {
    check_values(*command);
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() == 0) continue;
      const std::string type = option->get_type_name();
      const bool is_integer = type.find("INT") == 0 || type.find("UINT") == 0;
      if (is_integer || type.find("FLOAT") == 0) {
        check(*option, [is_integer](const std::string& value) -> std::string {
          double number = 0;  // Options say themselves what they do with inf and nan.
          if (is_integer ? parse_integer(value).has_value() : CLI::detail::lexical_cast(value, number)) {
            return "";
          }
          return fmt::format("got {}; allowed: {}", one_line(value),
                             is_integer ? "a whole number in decimal digits, below 2^63" : "a number");
        });
      }
      // The check that is added last comes first.
      check(*option, [names = option_names(*command)](const std::string& value) -> std::string {
        if (value.empty()) return "is empty; give it a value";
        if (!std::ranges::count(names, value.substr(0, value.find('=')))) return "";
        return fmt::format("has no value: {} follows it", one_line(value));
      });
    }
  }
}

std::vector<std::string> command_names(const CLI::App& app,
                                       const std::function<bool(const CLI::App*)>& is_meant) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(is_meant)) names.push_back(command->get_name());
  return names;
}

// Returns those that help shows: a command that other programs start is no suggestion.
std::vector<std::string> shown_command_names(const CLI::App& app) {
  return command_names(app, [](const CLI::App* command) { return !command->get_group().empty(); });
}

std::string unknown_argument(const CLI::App& command, std::vector<std::string> arguments) {
  const auto option = std::ranges::find_if(arguments, [](const std::string& argument) {
    return argument.size() > 1 && argument[0] == '-' && argument != "--";
  });
  if (option == arguments.end()) return fmt::format("unexpected argument '{}'", one_line(arguments.front()));
  const std::string name = option->substr(0, option->find('='));
  if (name == "--resume" && (command.get_name() == "run" || command.get_name() == "evaluate")) {
    return "unknown option --resume; an interrupted command resumes by itself when it is called again";
  }
  return fmt::format("unknown option {}{}", one_line(name), known_names_hint(name, option_names(command)));
}

// Explains an option with too few or too many values; empty for other errors.
std::string miscounted_values(const CLI::App& command, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) return {};
  for (const CLI::Option* option : command.get_options()) {
    const std::size_t count = option->count();
    const int needed = option->get_items_expected_min();
    if (count == 0 || needed != option->get_items_expected_max() || std::cmp_equal(count, needed)) continue;
    return fmt::format("{}: got {}; needs {}", option->get_name(), counted(count, "value"), needed);
  }
  return {};
}

// Explains in one line why `app` could not parse a command line. For an unknown command or option it also
// gives the nearest name and all that exist. `arguments` are those of the command line, without the program's
// name.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& arguments) {
  const std::vector<std::string> commands = command_names(app, [](const CLI::App*) { return true; });
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  if (!parsed.empty() && std::ranges::count(commands, arguments[0])) {
    const CLI::App& command = *parsed.front();
    const std::vector<std::string> left = app.remaining(true);
    if (const std::string problem = miscounted_values(command, error); !problem.empty()) {
      return fmt::format("{}: {}", command.get_name(), problem);
    }
    // A required option is missing, too, where it is misspelt.
    const auto is_option = [](const std::string& argument) {
      return argument.starts_with("--") && argument.size() > 2;
    };
    const int code = error.get_exit_code();
    const bool is_extra =
        (code == static_cast<int>(CLI::ExitCodes::ExtrasError) && !left.empty()) ||
        (code == static_cast<int>(CLI::ExitCodes::RequiredError) && std::ranges::any_of(left, is_option));
    return fmt::format("{}: {}", command.get_name(),
                       is_extra ? unknown_argument(command, left) : std::string(error.what()));
  }
  const std::string hint = known_names_hint(arguments.empty() ? "" : arguments[0], shown_command_names(app));
  if (arguments.empty()) return "a command is missing" + hint;
  if (arguments[0].starts_with("-")) return unknown_argument(app, arguments);
  return fmt::format("unknown command '{}'{}", one_line(arguments[0]), hint);
}

// Prints one line on standard error, if that can be written; returns `code`.
int fail(int code, const std::string& message) {
  std::fputs(fmt::format("che: {}\n", message).c_str(), stderr);
  return code;
}

// Returns the exit code.
int run(int argc, char** argv) {
  CLI::App app{"che: Chomsky Hierarchy Evaluation of positional encodings"};
  app.set_version_flag("--version", fmt::format("che {} ({})", program_version(), git_commit()));
  app.require_subcommand(1);
  app.formatter(std::make_shared<ShortHelp>());
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
      const std::string problem = usage_problem(app, error, {argv + std::min(argc, 1), argv + argc});
      const auto commands = app.get_subcommands();
      const bool in_command = !commands.empty() && commands[0]->get_name() == argv[1];
      return fail(2, fmt::format("{}\nRun `che {}--help` for more.", one_line(problem, kWholeText),
                                 in_command ? commands[0]->get_name() + " " : ""));
    }
    code = app.exit(error);  // --help, --version
  } catch (const std::system_error&) {
    check_output_was_written();  // fmt::print threw it.
    if (std::ferror(stdout) == 0) throw;
  }
  check_output_was_written();
  return code;
}

}  // namespace
}  // namespace che

int main(int argc, char** argv) {
  try {
    che::set_up_process();
    return che::run(argc, argv);
  } catch (const che::Error& error) {
    return che::fail(error.kind() == che::ErrorKind::kUsage ? 2 : 1,
                     che::one_line(error.what(), che::kWholeText));
  } catch (const std::exception& error) {
    return che::fail(1, che::one_line(che::describe_failure(error), che::kWholeText));
  }
}
