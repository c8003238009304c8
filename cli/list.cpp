#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/listing.h"
#include "cli/one_of.h"
#include "core/config/field_list.h"
#include "core/error.h"

namespace che {
namespace {

struct ListOptions {
  std::string kind;
  std::string name;  // Of the one task to show.
  bool verbose = false;
};

constexpr std::string_view kOneTask = "task";

void print_table(const std::vector<ListRow>& rows, bool verbose) {
  std::vector<std::size_t> widths;
  for (const ListRow& row : rows) {
    widths.resize(row.cells.size(), 0);
    for (std::size_t i = 0; i < row.cells.size(); ++i) widths[i] = std::max(widths[i], row.cells[i].size());
  }
  for (const ListRow& row : rows) {
    for (std::size_t i = 0; i + 1 < row.cells.size(); ++i) fmt::print("{:<{}}  ", row.cells[i], widths[i]);
    fmt::print("{}\n", row.cells.back());
    if (!verbose) continue;
    for (const std::string& detail : row.details) fmt::print("    {}\n", detail);
  }
}

}  // namespace

void append_options(const AnyOptions& defaults, std::vector<std::string>& details) {
  for (const FieldRecord& option : describe_fields(fields_of(defaults))) {
    const std::string allowed = option.allowed.empty() ? "" : fmt::format(" (allowed: {})", option.allowed);
    details.push_back(fmt::format("option {} = {}{}: {}", option.path, option.value, allowed, option.help));
  }
}

void add_list_command(CLI::App& app, Action& action, std::vector<Listing> listings) {
  const auto options = std::make_shared<ListOptions>();
  std::vector<std::string> kinds;
  std::string help;
  kinds.reserve(listings.size() + 1);
  for (const Listing& listing : listings) {
    kinds.push_back(listing.kind);
    help += fmt::format("{}{} ({})", help.empty() ? "" : " or ", listing.kind, listing.help);
  }
  CLI::App* const command =
      app.add_subcommand("list", fmt::format("Show the {}, or one task", fmt::join(kinds, " or the ")));
  kinds.emplace_back(kOneTask);
  help += fmt::format(" or {} NAME (one task)", kOneTask);
  command->add_option("kind", options->kind, help)->required()->check(one_of(kinds));
  command->add_option("name", options->name, "with 'task': its name, or the .yaml file that declares it");
  command->add_flag("--verbose", options->verbose, "also chance, or formula and source, and every option");
  command->callback([options, &action, listings = std::move(listings)] {
    action = [options, listings] {
      if ((options->kind == kOneTask) == options->name.empty()) {
        throw Error(options->name.empty()
                        ? "list task: name the task, or its file"
                        : fmt::format("list {}: takes no name; 'list task {}' shows one task", options->kind,
                                      options->name));
      }
      if (options->kind == kOneTask) {
        print_task(options->name);
        return 0;
      }
      print_table(std::ranges::find(listings, options->kind, &Listing::kind)->rows(), options->verbose);
      return 0;
    };
  });
}

}  // namespace che
