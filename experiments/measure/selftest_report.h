#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/process.h"
#include "experiments/measure/device_check.h"

namespace che {

// The tests of `plan` run in processes of their own, one after the other. A fault of a GPU ends its process,
// and the next one goes on behind the test that caused it.

// Runs in such a process. It makes the tests from number `first` on, counted from 0, until one fails by an
// error. It writes each result to standard output, as a line that report_selftest() reads. Throws Error if
// nobody reads them.
void run_selftest_part(const Backend& device, const SelftestPlan& plan, std::int64_t first);

struct SelftestReport {
  // The process that makes the tests from a number on; its standard output is replaced.
  std::function<ProcessPlan(std::int64_t first)> process;
  std::string json;                 // A file that has everything after each test; none if empty.
  std::chrono::seconds limit{600};  // A test that takes longer has failed, and its process is killed.
  std::string command;              // Runs only the test whose name follows, for the remedy of a failure.
};

// Prints each result, and at last the number of failures and the first of them. Returns 0 if all tests
// passed, 1 if one failed, and the process' own exit code if the first one could not open the device. Throws
// Error if the file cannot be written, or if the plan has no test.
int report_selftest(const SelftestReport& report);

}  // namespace che
