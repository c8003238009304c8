#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/exchange/bundled_run.h"

namespace che {

// An experiment as one file to publish: configs, rows, metrics and states of its runs, without checkpoints,
// and a manifest with the SHA-256 of each file. Equal results give equal bytes. Unpacked, it is a results
// folder:
//   NAME/MANIFEST.json
//   NAME/runs/<run id>/config.yaml, evaluation.csv, evaluation_at_steps.csv, metrics.csv, status.json
// The predictions of che's models are left out with the checkpoints: they may be as large, and a retrained
// model writes them again. Those of models outside che (predictions-*.jsonl.zst) are in it.

struct BundleSummary {
  std::string name;        // The experiment's.
  std::string digits;      // SHA-256 of the bundle.
  std::string version;     // The program that wrote it,
  std::string git_commit;  // and its sources.
  std::size_t files = 0;
  std::size_t runs = 0;
  std::map<std::string, std::string> unfinished;                // Runs without a score by id, and why.
  std::map<std::string, std::set<std::int64_t>> task_versions;  // By task as tables label it.
  std::map<std::string, std::set<std::string>> own_contents;    // By task, as own_content() says; not stored.
  std::map<std::string, std::size_t> seeds;  // Finished seeds of each cell, by its cell_id().
  std::size_t rows_without_predictions = 0;  // Sums those of the runs.
  std::vector<std::string> hardware;         // "processor on host" of the runs, each once.
  std::set<std::string> programs;            // They computed the runs, as computed_by() says.

  bool is_complete() const { return unfinished.empty(); }
};

// Receives each run while a bundle is read, before the later bytes are checked.
using BundledRunSink = std::function<void(BundledRun)>;

// Writes the runs of the results folder `experiment`. Throws Error (usage) where there is none, for a damaged
// run, which it names, and for a file that changes meanwhile; (runtime) when the disk refuses.
BundleSummary write_bundle(const std::filesystem::path& experiment, const std::filesystem::path& file);

// Reads a bundle without unpacking it and checks every byte: the archive's form and hash, each file's hash
// and size in the manifest, and that nothing is missing or surplus. It checks each run's config, rows and
// state as those of a results folder, and scores the predictions of models outside che again. Throws Error
// (usage) that names the file in which something is wrong.
BundleSummary verify_bundle(const std::filesystem::path& file, const BundledRunSink& take = {});

// Checks a bundle as verify_bundle does and makes the results folder `folder` of it, whole or not at all.
// Throws Error (usage) where something is there already, (runtime) when the disk refuses.
BundleSummary unpack_bundle(const std::filesystem::path& file, const std::filesystem::path& folder);

// Returns lines that say what a bundle holds, for a reader who decides whether to trust it.
std::string describe(const BundleSummary& summary, const std::filesystem::path& file);

}  // namespace che
