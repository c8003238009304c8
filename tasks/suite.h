#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace che {

// A named, frozen choice of tasks, training lengths and test samples: what results can be compared over. A
// suite that has been published never changes; a change gets a new version.
struct Suite {
  std::string name;     // "che-14/v1"
  std::string summary;  // One line, with its source.
  std::vector<std::string> tasks;
  std::int64_t first_training_length = 1;
  std::int64_t last_training_length = 40;
  // Test lengths first, first + step, ... up to last, with as many samples each, drawn by `evaluation_seed`.
  std::int64_t first_length = 41;
  std::int64_t last_length = 500;
  std::int64_t length_step = 1;
  std::int64_t samples = 512;
  std::int64_t evaluation_seed = 0;

  std::vector<std::int64_t> lengths() const;
};

// Every suite, by name.
const std::vector<Suite>& suites();

// Throws Error (usage) that names the known suites.
const Suite& find_suite(std::string_view name);

}  // namespace che
