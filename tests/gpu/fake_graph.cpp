#include "tests/gpu/fake_graph.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <utility>

#include "tests/gpu/emulated_gpu.h"
#include "tests/gpu/fake_device.h"
#include "tests/gpu/fake_memory.h"

namespace che {
namespace {

std::atomic<FakeGraph*> captured = nullptr;

}  // namespace

FakeGraph::~FakeGraph() {
  operations_.clear();
  fake_memory().release_captured(memory_);
}

void FakeGraph::begin() {
  const c10::impl::VirtualGuardImpl streams(fake_device().type());
  TORCH_CHECK(streams.getStream(fake_device()) != streams.getDefaultStream(fake_device()),
              "a graph is captured in a stream other than the default one");
  TORCH_CHECK(captured == nullptr, "another graph is captured");
  fake_memory().begin_capture();
  captured = this;
  gpu::set_launch_listener([](std::function<void()> launch) {
    if (FakeGraph* const graph = capturing()) graph->add(std::move(launch));
  });
}

void FakeGraph::end() {
  captured = nullptr;
  TORCH_CHECK(!is_invalid_, "the capture is invalid");
  memory_ = fake_memory().end_capture();
}

void FakeGraph::replay() {
  count_replay();
  fake_memory().make_unwritten(memory_);
  for (const auto& operation : operations_) operation();
}

FakeGraph* FakeGraph::capturing() { return captured; }

void FakeGraph::add(std::function<void()> operation) {
  const std::lock_guard lock(mutex_);
  operations_.push_back(std::move(operation));
}

}  // namespace che
