#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "texts/windows.h"
#include "workloads/metric.h"

namespace che {

// How many ids a workload's tokens and predictions have; both count from 0.
struct Vocabulary {
  std::int64_t tokens = 0;
  std::int64_t classes = 0;
};

// Examples of equal length, row after row. A model reads all tokens of an example and predicts a class for
// each of the last `outputs` of them.
struct SequenceBatch {
  std::int64_t length = 0;                 // The length that the examples are drawn at; see Workload.
  std::int64_t size = 0;                   // Examples.
  std::int64_t width = 0;                  // Tokens of an example.
  std::int64_t outputs = 0;                // Predictions of an example.
  std::vector<std::int32_t> tokens = {};   // (size, width)
  std::vector<std::int32_t> targets = {};  // (size, outputs)
  std::vector<std::uint8_t> mask = {};     // (size, outputs), 1 = counts for accuracy
  // The windows of a text that an evaluation's examples are, (size); empty for a task, and in training.
  std::vector<EvaluationWindow> windows = {};
};

// Gives a run its batches and says how its predictions are judged. A length is the one asked of a task,
// whose examples may have other numbers of symbols, or the tokens of a text's windows. Stateless after
// construction; every function may be called from several threads.
class Workload {
 public:
  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  virtual Vocabulary vocabulary() const = 0;
  virtual Metric metric() const = 0;
  // The mean value that guessing reaches over these lengths, if guessing means something.
  virtual std::optional<double> chance(const std::vector<std::int64_t>& lengths) const = 0;

  // The lengths that the run is evaluated at, ascending.
  virtual std::vector<std::int64_t> lengths() const = 0;
  // The training length of the longest examples.
  virtual std::int64_t longest_training_length() const = 0;
  // Tokens of an example at a length.
  virtual std::int64_t tokens(std::int64_t length) const = 0;

  // Fills `batch`, whose memory is reused, with the batch of a training step (from 0).
  virtual void training_batch(std::int64_t step, SequenceBatch& batch) const = 0;
  // Fills it with the test examples first .. first + count - 1 of a length. Throws Error if there are none.
  virtual void evaluation_batch(std::int64_t length, std::int64_t first, std::int64_t count,
                                SequenceBatch& batch) const = 0;
  // Fills it with the examples that training watches its loss on; false where a workload has none.
  virtual bool validation_batch(SequenceBatch& /*batch*/) const { return false; }
  // The most memory, in bytes, that it keeps once it has made training batches of every length.
  virtual double training_bytes() const { return 0; }
};

}  // namespace che
