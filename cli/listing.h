#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/config/fields.h"

namespace che {

// A line of a table of registered entries, and what --verbose prints below it.
struct ListRow {
  std::vector<std::string> cells;
  std::vector<std::string> details;
};

// A kind of entries that `list` shows.
struct Listing {
  std::string kind;  // "tasks"
  std::string help;  // What its columns mean.
  std::function<std::vector<ListRow>()> rows;
};

Listing task_listing();
Listing encoding_listing();
Listing suite_listing();

// Prints what there is to know of a task: a registered one, or one that a file declares.
void print_task(const std::string& name_or_file);

// Appends a line for every option of an entry: its default, the allowed values and the help.
void append_options(const AnyOptions& defaults, std::vector<std::string>& details);

// Adds `list` with these kinds.
void add_list_command(CLI::App& app, Action& action, std::vector<Listing> listings);

}  // namespace che
