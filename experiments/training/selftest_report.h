#pragma once

#include <string>

#include "experiments/training/selftest.h"
#include "models/ops/device/kernel_table.h"

namespace che {

// The device that a self-test tests.
struct SelftestTarget {
  Backend backend;
  bool has_times = true;  // Or comparisons only.
};

// Compares and times the target, prints each result and their count, and writes everything to the file
// `json`, unless that is empty. Returns how many comparisons failed. Throws Error where the file cannot be
// written.
std::int64_t report_selftest(const SelftestTarget& target, const SelftestPlan& plan, const std::string& json);

}  // namespace che
