#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace che {

// Slurm's commands. Each throws Error (runtime) when the command is not there, refuses, or does not answer
// within kSlurmSeconds: without its controller it waits for long.
inline constexpr int kSlurmSeconds = 15;

// An element of a job array that is waiting or at work.
struct QueuedTask {
  std::int64_t array = 0;  // Id of the array.
  std::int64_t index = 0;
  std::string state;   // As squeue words it: PENDING, RUNNING, ...
  std::string reason;  // Why it waits: Priority, Resources, ...
};

// What of this user's job arrays is in the queue.
std::vector<QueuedTask> queued_tasks();

// One more than the largest index of an array.
std::int64_t max_array_size();

// Calls sbatch with these arguments; returns the job's id.
std::int64_t submit_batch(const std::vector<std::string>& arguments);

// Puts one array element, "<array>_<index>", back into the queue.
void requeue(const std::string& element);

}  // namespace che
