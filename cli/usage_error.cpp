#include "cli/usage_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "core/config/node.h"
#include "core/suggestion.h"

namespace che {
namespace {

std::vector<std::string> command_names(const CLI::App& app,
                                       const std::function<bool(const CLI::App*)>& is_meant) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(is_meant)) names.push_back(command->get_name());
  return names;
}

// Those that help shows. What other programs start is no suggestion.
std::vector<std::string> shown_command_names(const CLI::App& app) {
  return command_names(app, [](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string unknown_argument(const CLI::App& command, std::vector<std::string> arguments) {
  const auto option = std::ranges::find_if(arguments, [](const std::string& argument) {
    return argument.size() > 1 && argument[0] == '-' && argument != "--";
  });
  if (option == arguments.end()) return fmt::format("unexpected argument '{}'", one_line(arguments.front()));
  const std::string name = option->substr(0, option->find('='));
  return fmt::format("unknown option {}{}", one_line(name), known_names_hint(name, option_names(command)));
}

// For an option with too few or too many values; empty for other errors.
std::string miscounted_values(const CLI::App& command, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) return {};
  const std::string_view message = error.what();
  const std::size_t count = message.find_last_not_of("0123456789") + 1;
  for (const CLI::Option* option : command.get_options()) {
    const int least = option->get_items_expected_min();
    if (least != option->get_items_expected_max() || count == message.size()) continue;
    if (!message.starts_with(option->get_name() + ":")) continue;
    const std::string received(message.substr(count));
    return fmt::format("{}: got {} value{}; needs {}", option->get_name(), received,
                       received == "1" ? "" : "s", least);
  }
  return {};
}

}  // namespace

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

}  // namespace che
