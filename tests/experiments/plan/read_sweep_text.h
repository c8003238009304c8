#pragma once

#include <gtest/gtest.h>

#include <boost/algorithm/string/replace.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan/sweep.h"
#include "tests/message_of.h"
#include "tests/scratch_file.h"

namespace che {

using Overrides = std::vector<std::string>;

inline Sweep read(std::string_view yaml, const Overrides& overrides = {}, const Overrides& only = {}) {
  const ScratchFile file(yaml);
  return read_sweep(file.path(), overrides, {.only = only});
}

// The message, with "x.yaml" in place of the file's path; checked to be one line.
inline std::string error_of(std::string_view yaml, const Overrides& overrides = {},
                            const Overrides& only = {}) {
  const ScratchFile file(yaml);
  const std::string message = message_of([&] { read_sweep(file.path(), overrides, {.only = only}); });
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return boost::replace_all_copy(message, file.path().string(), "x.yaml");
}

inline constexpr std::string_view kQuick = R"(name: quick
description: two tasks
base:
  training: {steps: 10}
  model:
    width: 64
    heads: 4
axes:
  task: [even_pairs, reverse_string]
  encoding: [none, {name: kerple, dape: {hidden: 16}}]
  seed: [0, 1, 2]
)";

inline constexpr std::string_view kVariants = R"(name: variants
base: {task: even_pairs, model: {width: 64}}
axes:
  size:
    - {label: small, model.width: 32, model.layers: 1}
    - {label: large, encoding: dape_kerple, encoding.dape.hidden: 16}
  seed: 0:4:2
)";

}  // namespace che
