#include "models/encodings/table_cache.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace che {
namespace {

TEST(TableCache, BuildsATableOnceForEachKey) {
  TableCache tables;
  int built = 0;
  const auto get = [&](const char* name, const std::vector<std::int64_t>& positions, std::int64_t tokens) {
    return tables.get({name, positions, tokens}, [&] { return at::full({1}, ++built); }).item<int>();
  };
  EXPECT_EQ(1, get("a", {0, 1}, 2));
  EXPECT_EQ(1, get("a", {0, 1}, 2));
  EXPECT_EQ(2, get("b", {0, 1}, 2));
  EXPECT_EQ(3, get("a", {0, 2}, 2));
  EXPECT_EQ(4, get("a", {0, 1}, 3));
  EXPECT_EQ(1, get("a", {0, 1}, 2));
}

TEST(TableCache, ForgetsBeforeItHoldsTooMuch) {
  TableCache tables;
  int built = 0;
  constexpr std::int64_t kFloats = std::int64_t{10} << 20;  // 40 MiB
  const auto get = [&](std::int64_t key) {
    tables.get({"a", {}, key}, [&] {
      ++built;
      return at::empty({kFloats}, at::kFloat);
    });
  };
  get(1);
  get(1);
  EXPECT_EQ(1, built);
  get(2);
  get(1);
  EXPECT_EQ(3, built) << "two of them are too many";
}

}  // namespace
}  // namespace che
