#include "experiments/job_list.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include <string>

#include "core/error.h"

namespace che {
namespace {

// Everything that runs of one job share.
std::string job_key(RunConfig config) {
  config.seed = 0;
  config.learning_rate = RunConfig{}.learning_rate;
  return to_yaml(config);
}

}  // namespace

void check_is_one_job(const std::vector<RunFolder>& runs) {
  if (runs.empty()) throw Error("a job needs at least one run");
  std::set<std::string> ids;
  for (const RunFolder& run : runs) {
    if (!ids.insert(run.id()).second) throw Error(fmt::format("run {} is named twice", run.id()));
    if (job_key(run.config()) != job_key(runs.front().config())) {
      throw Error(
          fmt::format("{} and {} differ in more than seed and learning rate: they are no job; work on "
                      "them one by one",
                      runs.front().path().string(), run.path().string()));
    }
  }
}

bool is_complete(const RunFolder& run) {
  const StoredRun stored = run.read();
  return stored.status.state == "finished" &&
         missing_lengths(stored.evaluation, run.config().evaluation).empty();
}

std::vector<std::vector<std::size_t>> group_into_jobs(const std::vector<RunConfig>& runs) {
  std::vector<std::vector<std::size_t>> jobs;
  std::map<std::string, std::size_t> open_job;  // The last job of each key.
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto [place, is_new] = open_job.try_emplace(job_key(runs[i]), jobs.size());
    const auto limit = static_cast<std::size_t>(runs[i].execution.replicas);
    if (!is_new && jobs[place->second].size() == limit) place->second = jobs.size();
    if (place->second == jobs.size()) jobs.emplace_back();
    jobs[place->second].push_back(i);
  }
  return jobs;
}

}  // namespace che
