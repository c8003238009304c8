// The functions of the command line that differ between `che`, which has no LibTorch, and che-compute, which
// has it. Commands call them without knowing which program they are in. Those that need measurements or a
// model compute in che-compute (cli/compute/). In `che` they replace the process by che-compute with the same
// command line (cli/hand_over.cpp).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "experiments/plan/sweep.h"

namespace che {

// Gives a command its options and its action, by its name.
void fill_computing_command(CLI::App& command, Action& action);

// These give one command each its options and its action; in che-compute alone.
void fill_bench_command(CLI::App& command, Action& action);
void fill_bias_command(CLI::App& command, Action& action);
void fill_encoding_command(CLI::App& command, Action& action);
void fill_export_model_command(CLI::App& command, Action& action);
void fill_selftest_command(CLI::App& command, Action& action);
void fill_worker_command(CLI::App& command, Action& action);

// Applies "key=value" settings of a command line to `fields`, `example` being one; in che-compute alone.
// Throws Error (usage) for two that set one field, and for one that sets a key of `of_options`, fields that
// the command's options set.
void apply_settings(const std::vector<std::string>& settings, std::string_view example,
                    const FieldVisitor::Members& fields,
                    const std::map<std::string_view, std::string_view>& of_options);

// Chooses execution.replicas of the runs whose config leaves it open, for `workers` workers or the default if
// that is 0. A run whose device is not here stays open.
void choose_replicas(std::vector<RunConfig>& runs, std::int64_t workers);

// Returns the rate of bf16 products over that of fp32's, with one thread on a CPU, as the median of
// neighbouring products. They have the tokens of a batch of the run's longest training sequences and its
// width.
double bf16_speed(const RunConfig& run);

// The most memory that a job of these runs needs, measured.
double measured_job_bytes(const std::vector<RunConfig>& runs);

// Prints the plan of a sweep, with times that it measures, and runs nothing. `described` has a line for each
// run. Refuses, as prepare_training does, to train again what needs --retrain; calls `announce` if it refuses
// nothing. `workers` is 0 for the default. Returns the exit code.
int show_plan(const Sweep& sweep, const std::vector<std::string>& described,
              const std::filesystem::path& experiment, std::int64_t workers, bool retrain,
              const std::function<void()>& announce);

// Returns a sink for the warnings of a config. `che` may be replaced by che-compute, which reads the config
// and warns again. So `che` holds them in `held`, to be printed when that is settled. che-compute prints at
// once, so that a later error hides none.
WarningSink warnings_of_config(std::vector<std::string>& held);

// One line for users about an exception that is no Error.
std::string describe_failure(const std::exception& error);

// Names runs of the folder that the whole config, of which the sweep may be a part, does not have.
void announce_other_runs(const Sweep& sweep, const std::filesystem::path& experiment);

// Returns " (3 of them trained, test lengths missing)", of the runs that are left to do; empty for none. It
// is the same in both programs.
std::string trained_text(std::size_t trained);

}  // namespace che
