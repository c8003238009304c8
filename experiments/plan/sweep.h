#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/plan/run_config.h"
#include "experiments/plan/run_filter.h"

namespace che {

// A config file, expanded: a name and complete runs.
struct Sweep {
  std::string name;  // Results go to results/<name> unless told otherwise.
  std::string description;
  std::vector<std::string> extends = {};   // Configs whose base it builds on, the nearest first.
  std::vector<RunConfig> runs;             // All checked, in the order of the axes, last axis fastest.
  std::vector<RunConfig> not_chosen = {};  // The runs that conditions leave out, not checked.
};

// Reads
//
//   name: quick
//   description: one line           (optional)
//   extends: small.yaml             (optional) a config in this folder or below, whose base comes first
//   base: {...}                     (fields of RunConfig, nested; the rest keep their defaults)
//   axes:                           (optional) key path of RunConfig -> list of values
//     task: [even_pairs, reverse_string]
//     encoding: [none, rope, {name: kerple, dape: {hidden: 16}}]
//     seed: 0:4                     (a range of whole numbers, both ends included)
//     size:                         (named variants: a label and several key paths at once)
//       - {label: small, model.width: 64, model.layers: 2}
//       - {label: large, model.width: 256}
//   exclude:                        (optional) runs that match one of these are left out, see RunFilter
//     - {task: even_pairs, size: large, seed: [3, 4]}
//
// and expands it to the product of the axes over `base`. `overrides` are "key=value" with a key
// path of RunConfig (`training.steps=100`), "axes.KEY=[...]", "name=..."; the value is YAML. An
// override of an axis' key replaces the axis; other overrides apply after the axes, in their order. An
// axis inside another (encoding, encoding.dape.hidden) applies after it. `conditions` have values as
// `exclude` has: runs that do not hold all of `only`, or hold one of `skip`, are left out. At most 10,000
// runs. Throws Error (usage) that names file, line, key path and what is allowed; two runs with one id are
// such an error. Warns of exclusions and variants that have no effect.
Sweep read_sweep(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                 const RunConditions& conditions = {}, const WarningSink& warn = print_warning);

}  // namespace che
