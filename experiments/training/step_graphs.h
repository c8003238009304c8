#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "models/ops/device/device_graphs.h"
#include "models/ops/device/step_uploads.h"
#include "models/parameters/adam.h"
#include "models/settings/positions.h"
#include "models/transformer.h"
#include "tasks/task.h"

namespace che {

// Training steps on a device that replays them: a graph for each shape of a batch. The first step of a shape
// is made as without graphs, in a stream of its own, which opens and allocates what a capture must not; the
// second is captured and replayed; others are replayed. Every step has the bits that training_step() gives.
class StepGraphs {
 public:
  // Throws Error (usage) where the program has no graphs. `model` outlives it.
  StepGraphs(Transformer& model, const Adam& adam);

  // Like training_step() of `batch`, whose dropout counts `step`, too.
  at::Tensor step(const Batch& batch, const Positions& positions, const Dropout& dropout, std::int64_t step,
                  double rate_fraction = 1);

  std::size_t count() const;  // Of graphs that were captured.

 private:
  // (examples, input length, output length)
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

  struct Graph {
    StepUploads uploads;
    at::Tensor measured;  // Of the last replay.
    std::unique_ptr<DeviceGraph> graph;
  };

  // Makes the step at hand, with what it reads from the host in `uploads`.
  at::Tensor make(StepUploads& uploads, std::int64_t outputs);
  void capture(Graph& graph, std::int64_t outputs);

  Transformer& model_;
  Adam adam_;
  std::unique_ptr<DeviceGraphs> graphs_;
  c10::Stream stream_;  // Of what is not replayed.

  // What the step at hand is given, where uploads find it.
  at::Tensor bytes_;
  Positions positions_;
  Dropout dropout_;
  std::int64_t step_ = 0;
  double rate_fraction_ = 1;

  std::map<Shape, Graph> by_shape_;
};

}  // namespace che
