// The commands of the program without LibTorch.
#include <fmt/format.h>

#include <new>
#include <string>

#include "cli/commands.h"
#include "cli/listing.h"
#include "core/error.h"

namespace che {
namespace {

// A command of the full program, with whatever it takes: says where that is.
void add_absent_command(CLI::App& app, Action& action, const std::string& name) {
  CLI::App* const command = app.add_subcommand(name)->group("")->prefix_command();
  command->set_help_flag();
  command->callback([name, &action] {
    action = [name]() -> int {
      throw Error(
          fmt::format("'{}' needs the full program: `scripts/setup.sh` builds it, with LibTorch, as "
                      "build/che",
                      name));
    };
  });
}

}  // namespace

void add_commands(CLI::App& app, Action& action) {
  add_list_command(app, action, {task_listing(), suite_listing()});
  add_sample_command(app, action);
  add_export_command(app, action);
  add_score_command(app, action);
  for (const char* const name :
       {"run", "submit", "status", "evaluate", "prune", "table", "plot", "report", "bias", "time", "encoding",
        "check", "bundle", "verify", "bench", "selftest"}) {
    add_absent_command(app, action, name);
  }
}

std::string describe_failure(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr
             ? "out of memory; ask for fewer or shorter samples"
             : std::string("unexpected: ") + error.what();
}

}  // namespace che
