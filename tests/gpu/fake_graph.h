#pragma once

#include <functional>
#include <mutex>
#include <vector>

namespace che {

// A graph of the fake device: the operations that LibTorch and the emulated kernels start while it is
// captured, which a replay does again in the same memory. As on a GPU, capturing changes no values, and what
// needs the host fails.
class FakeGraph {
 public:
  FakeGraph() = default;
  ~FakeGraph();
  FakeGraph(const FakeGraph&) = delete;
  FakeGraph& operator=(const FakeGraph&) = delete;

  // Throws where the current stream is the default one, or another graph is captured.
  void begin();
  // Throws where the capture is invalid. As LibTorch does, it leaves the memory to the capture then.
  void end();
  void replay();

  // The one that is captured; null for none.
  static FakeGraph* capturing();

  void add(std::function<void()> operation);

  // Has been asked for what a graph cannot do.
  void invalidate() { is_invalid_ = true; }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> operations_;
  std::vector<void*> memory_;
  bool is_invalid_ = false;
};

}  // namespace che
