#include "models/ops/device/device_graphs.h"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/ops/device/backend.h"
#include "tests/contains.h"
#include "tests/gpu/fake_device.h"
#include "tests/gpu/fake_graph.h"
#include "tests/message_of.h"

namespace che {
namespace {

TEST(FakeGraph, ChangesNothingUntilItIsReplayed) {
  const at::TensorOptions there = at::TensorOptions().dtype(at::kFloat).device(fake_device());
  at::Tensor x = at::ones({3}, there);
  at::Tensor sum;
  FakeGraph graph;
  EXPECT_THROW(graph.begin(), c10::Error) << "in the default stream";
  {
    const c10::StreamGuard guard(
        c10::impl::VirtualGuardImpl(fake_device().type()).getNewStream(fake_device()));
    graph.begin();
    FakeGraph other;
    EXPECT_THROW(other.begin(), c10::Error);
    x.add_(1);
    sum = x.sum();
    EXPECT_THROW(sum.item(), c10::Error);
    EXPECT_THROW(x.to(at::kCPU), c10::Error);
    EXPECT_THROW(at::ones({3}).to(fake_device()), c10::Error);
    graph.end();
  }
  EXPECT_EQ(1, x[0].item<float>());
  EXPECT_TRUE(std::isnan(sum.item<float>()));
  for (int replay = 1; replay < 3; ++replay) {
    graph.replay();
    EXPECT_EQ(1 + replay, x[0].item<float>());
    EXPECT_EQ(3 + 3 * replay, sum.item<float>());
  }
}

TEST(DeviceGraphs, ThatCannotBeUsedAreNamedWithARemedy) {
  expect_contains(message_of([] { open_device_graphs("/nowhere/libche_cuda_graphs.so"); }),
                  {"/nowhere/libche_cuda_graphs.so", "scripts/setup.sh cuda"});
  expect_contains(message_of([] { open_device_graphs(CHE_OTHER_KERNELS); }), {"does not have version"});
  Gpu gpu{.device = fake_device(), .library = nullptr};
  expect_contains(message_of([&] { new_device_graphs(gpu); }), {"libche_cuda_graphs.so"});
  gpu.create_graphs = open_device_graphs(CHE_STAND_IN_GRAPHS);
  EXPECT_NE(nullptr, new_device_graphs(gpu));
}

TEST(DeviceGraphs, OfTheLibraryHaveOneVersion) {
  void* const library = dlopen(CHE_STAND_IN_GRAPHS, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(nullptr, library) << dlerror();
  const auto graphs = reinterpret_cast<decltype(&che_device_graphs)>(dlsym(library, "che_device_graphs"));
  EXPECT_NE(nullptr, graphs(kDeviceGraphsVersion));
  EXPECT_EQ(nullptr, graphs(kDeviceGraphsVersion + 1));
}

}  // namespace
}  // namespace che
