#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "models/architectures/model.h"
#include "models/ops/device/device_graphs.h"
#include "models/ops/device/step_uploads.h"
#include "models/parameters/adam.h"
#include "models/settings/positions.h"
#include "workloads/workload.h"

namespace che {

// Training steps on a device that replays them, with a graph for each shape of a batch. The first step of a
// shape is made as without graphs, in a stream of its own: it opens and allocates what a capture must not.
// The second is captured and replayed, later ones are replayed; see TrainingState::capture_graphs(). Every
// step has the bits that training_step() gives.
class StepGraphs {
 public:
  // Throws Error (usage) if the program has no graphs. `model` outlives it.
  StepGraphs(Model& model, Adam adam);
  StepGraphs(const StepGraphs&) = delete;
  StepGraphs& operator=(const StepGraphs&) = delete;

  // Like training_step() with `batch`. The dropout of `pass` is that of `step`.
  at::Tensor step(const SequenceBatch& batch, const Pass& pass, std::int64_t step, double rate_fraction = 1);

  std::size_t count() const;  // Captured graphs.

 private:
  // (examples, tokens, outputs)
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

  struct Graph {
    StepUploads uploads;
    at::Tensor measured;  // The results of the last replay.
    std::unique_ptr<DeviceGraph> graph;
  };

  // Makes the step at hand, with what it reads from the host in `uploads`.
  at::Tensor make(StepUploads& uploads, std::int64_t outputs);
  void capture(Graph& graph, std::int64_t outputs);

  Model& model_;
  Adam adam_;
  std::unique_ptr<DeviceGraphs> graphs_;
  c10::Stream stream_;  // For steps that are not replayed.

  // The arguments of the step at hand, where uploads find them.
  at::Tensor batch_;
  Positions positions_;
  Pass pass_{.positions = positions_};
  std::int64_t step_ = 0;

  std::map<Shape, Graph> by_shape_;
};

}  // namespace che
