#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "models/encodings/encoding.h"

namespace che {
namespace {

TEST(TableCache, BuildsATableOnceForEachKey) {
  TableCache tables;
  int built = 0;
  const auto get = [&](const char* name, std::int64_t tokens, std::int64_t first_query) {
    return tables.get({name, tokens, first_query}, [&] { return at::full({1}, ++built); }).item<int>();
  };
  EXPECT_EQ(1, get("a", 2, 0));
  EXPECT_EQ(1, get("a", 2, 0));
  EXPECT_EQ(2, get("b", 2, 0));
  EXPECT_EQ(3, get("a", 3, 0));
  EXPECT_EQ(4, get("a", 2, 1));
  EXPECT_EQ(1, get("a", 2, 0));
}

TEST(TableCache, ForgetsBeforeItHoldsTooMuch) {
  TableCache tables;
  int built = 0;
  constexpr std::int64_t kFloats = std::int64_t{10} << 20;  // 40 MiB
  const auto get = [&](std::int64_t key) {
    tables.get({"a", key, 0}, [&] {
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
