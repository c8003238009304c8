#include "experiments/plan/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/number_text.h"
#include "core/text.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/operations.h"

namespace che {
namespace {

constexpr std::int64_t kMaxShards = 10'000;

// Runs that go to one part together.
struct Unit {
  std::size_t place = 0;  // Among the runs of its cell.
  double operations = 0;
  std::vector<std::string> runs;  // Their ids.
};

double operations_of(const RunConfig& run, bool is_chosen) {
  try {
    return run_operations(run).all();
  } catch (const Error&) {
    if (is_chosen) throw;
    return 0;  // A run that is not chosen need not be possible.
  }
}

std::vector<Unit> units_of(const Sweep& sweep) {
  std::map<std::string, std::set<std::string>> cells;
  struct Group {
    std::size_t replicas = 0;
    std::map<std::string, double> operations;  // By id.
  };
  std::map<std::string, Group> groups;  // Runs of one group may train in lock-step.
  for (const auto* runs : {&sweep.runs, &sweep.not_chosen}) {
    for (const RunConfig& run : *runs) {
      const std::string id = run_id(run);
      cells[cell_id(run)].insert(id);
      Group& group = groups[run.execution.replicas == 1 ? id : job_key(run)];
      group.replicas = static_cast<std::size_t>(run.execution.replicas);
      group.operations[id] = operations_of(run, runs == &sweep.runs);
    }
  }
  std::map<std::string, std::size_t> places;
  for (const auto& [cell, ids] : cells) {
    for (std::size_t place = 0; const std::string& id : ids) places[id] = place++;
  }
  std::vector<Unit> units;
  for (const auto& [key, group] : groups) {
    for (const auto& [id, operations] : group.operations) {
      // A group whose replicas nobody has chosen (kAutoReplicas) stays whole.
      const bool is_new = id == group.operations.begin()->first ||
                          (group.replicas > 0 && units.back().runs.size() == group.replicas);
      if (is_new) units.push_back({.place = places.at(id), .runs = {}});
      units.back().operations += operations;
      units.back().runs.push_back(id);
    }
  }
  return units;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto number = parse_integer(text.substr(0, slash));
  const auto count = slash == std::string::npos ? std::nullopt : parse_integer(text.substr(slash + 1));
  if (number && count && *count >= 1 && *count <= kMaxShards && *number >= 1 && *number <= *count) {
    return {*number, *count};
  }
  throw Error(fmt::format("--shard {}: allowed: K/N, such as 1/8, the first of eight parts; N is at most {}",
                          one_line(text), kMaxShards));
}

void take_shard(Sweep& sweep, const Shard& shard) {
  if (shard.count == 1) return;
  std::vector<Unit> units = units_of(sweep);
  // Each unit goes to the part that has the least work so far, the largest units first.
  std::ranges::sort(units, {},
                    [](const Unit& unit) { return std::tuple(unit.place, -unit.operations, unit.runs); });
  std::vector<double> loads(static_cast<std::size_t>(shard.count));
  std::set<std::string> own;
  for (const Unit& unit : units) {
    const auto part = std::ranges::min_element(loads);
    *part += unit.operations;
    if (part - loads.begin() == shard.number - 1) own.insert(unit.runs.begin(), unit.runs.end());
  }
  const std::size_t before = sweep.runs.size();
  // Clang 14 does not compile the result of std::ranges::stable_partition.
  const auto others = std::stable_partition(sweep.runs.begin(), sweep.runs.end(),
                                            [&](const RunConfig& run) { return own.contains(run_id(run)); });
  std::move(others, sweep.runs.end(), std::back_inserter(sweep.not_chosen));
  sweep.runs.erase(others, sweep.runs.end());
  if (!sweep.runs.empty()) return;
  throw Error(fmt::format("--shard {}/{}: none of {} is in this part; take fewer parts", shard.number,
                          shard.count, counted(before, "run")));
}

}  // namespace che
