#include "cli/commands.h"

namespace che {

void add_only_option(CLI::App& command, std::vector<std::string>& only) {
  command
      .add_option("--only", only,
                  "choose matching runs only: task=parity_check, encoding=[rope,kerple], seed=0:4, or a "
                  "variant's label; given "
                  "several times, all must match")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace che
