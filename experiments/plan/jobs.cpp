#include "experiments/plan/jobs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace che {

std::string job_key(RunConfig config) {
  config.seed = 0;
  config.learning_rate = RunConfig{}.learning_rate;
  return to_yaml(config);
}

bool share_a_job(const RunConfig& one, const RunConfig& other) { return job_key(one) == job_key(other); }

std::vector<std::vector<std::size_t>> group_into_jobs(const std::vector<RunConfig>& runs) {
  std::vector<std::vector<std::size_t>> jobs;
  std::map<std::string, std::size_t> open_job;  // The last job of each key.
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto [place, is_new] = open_job.try_emplace(job_key(runs[i]), jobs.size());
    const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(1, runs[i].execution.replicas));
    if (!is_new && jobs[place->second].size() == limit) place->second = jobs.size();
    if (place->second == jobs.size()) jobs.emplace_back();
    jobs[place->second].push_back(i);
  }
  return jobs;
}

}  // namespace che
