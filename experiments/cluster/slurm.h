#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace che {

// Slurm's commands. Each throws Error (runtime) when the command is not there, refuses, or does not answer
// within kSlurmSeconds: without its controller it waits for long.
inline constexpr int kSlurmSeconds = 15;

// A job, or an element of a job array, that is waiting or at work.
struct QueuedJob {
  std::int64_t id = 0;                // Of the job or the array.
  std::optional<std::int64_t> index;  // In the array.
  std::string state;                  // As squeue words it: PENDING, RUNNING, ...
  std::string reason;                 // Why it waits: Priority, Resources, ...
  std::string command;                // The path of its script, and the script's arguments.
};

// What of this user's jobs is in the queue.
std::vector<QueuedJob> queued_jobs();

// One more than the largest index of an array.
std::int64_t max_array_size();

// Calls sbatch with these arguments; returns the job's id.
std::int64_t submit_batch(const std::vector<std::string>& arguments);

// Puts one array element, "<array>_<index>", back into the queue.
void requeue(const std::string& element);

}  // namespace che
