// The commands of the program without LibTorch.
#include <new>

#include "cli/commands.h"
#include "cli/listing.h"

namespace che {

void add_commands(CLI::App& app, Action& action) {
  add_list_command(app, action, {task_listing(), suite_listing()});
  add_sample_command(app, action);
}

std::string describe_failure(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr
             ? "out of memory; ask for fewer or shorter samples"
             : std::string("unexpected: ") + error.what();
}

}  // namespace che
