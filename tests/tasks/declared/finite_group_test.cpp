#include "tasks/declared/finite_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"

namespace che {
namespace {

class EveryGroup : public testing::TestWithParam<const char*> {
 protected:
  FiniteGroup group_ = find_group(GetParam());
};

TEST_P(EveryGroup, HasAnIdentityInversesAndAssociativeProducts) {
  const std::size_t order = group_.order();
  EXPECT_EQ(std::set<std::string>(group_.elements.begin(), group_.elements.end()).size(), order);
  for (std::size_t a = 0; a < order; ++a) {
    EXPECT_EQ(group_.product(0, a), a);
    EXPECT_EQ(group_.product(a, 0), a);
    std::set<std::size_t> products;
    for (std::size_t b = 0; b < order; ++b) products.insert(group_.product(a, b));
    EXPECT_EQ(products.size(), order) << "row " << a << " has a product twice";
  }
  // All triples of small groups, others by strides.
  const std::size_t stride = order <= 24 ? 1 : 7;
  for (std::size_t a = 0; a < order; a += stride) {
    for (std::size_t b = 0; b < order; b += stride) {
      for (std::size_t c = 0; c < order; c += stride) {
        ASSERT_EQ(group_.product(group_.product(a, b), c), group_.product(a, group_.product(b, c)))
            << a << " " << b << " " << c;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, EveryGroup,
                         testing::Values("S2", "S3", "S4", "S5", "A3", "A4", "A5", "Z2", "Z7", "D3", "D4",
                                         "D7", "Q8", "A4xZ5", "Z2 x Z2 x Z3"));

std::size_t index_of(const FiniteGroup& group, const std::string& element) {
  return static_cast<std::size_t>(std::ranges::find(group.elements, element) - group.elements.begin());
}

std::string product(const std::string& name, const std::string& first, const std::string& second) {
  const FiniteGroup group = find_group(name);
  return group.elements.at(group.product(index_of(group, first), index_of(group, second)));
}

// The order of an element, counted by multiplying.
std::size_t order_of(const FiniteGroup& group, std::size_t element) {
  std::size_t order = 1;
  for (std::size_t power = element; power != 0; power = group.product(power, element)) ++order;
  return order;
}

TEST(FiniteGroup, MultipliesAsWorkedByHand) {
  EXPECT_EQ(product("S3", "213", "132"), "312") << "1 goes to 2 and then to 3";
  EXPECT_EQ(product("Z5", "3", "4"), "2");
  EXPECT_EQ(product("D4", "r1", "s0"), "s3");
  EXPECT_EQ(product("D4", "s0", "r1"), "s1");
  EXPECT_EQ(product("D4", "s1", "s1"), "r0");
  EXPECT_EQ(product("Q8", "i", "j"), "k");
  EXPECT_EQ(product("Q8", "j", "i"), "-k");
  EXPECT_EQ(product("Q8", "-k", "k"), "1");
  EXPECT_EQ(product("A4xZ5", "2143,3", "2143,4"), "1234,2");
}

TEST(FiniteGroup, HasThePublishedOrdersOfElements) {
  const auto count = [](const char* name, std::size_t order) {
    const FiniteGroup group = find_group(name);
    std::size_t found = 0;
    for (std::size_t element = 0; element < group.order(); ++element)
      found += order_of(group, element) == order ? 1 : 0;
    return found;
  };
  EXPECT_EQ(count("Q8", 4), 6U);
  EXPECT_EQ(count("D4", 2), 5U);
  EXPECT_EQ(count("A5", 5), 24U);
  EXPECT_EQ(count("A5", 3), 20U);
  EXPECT_EQ(count("S5", 6), 20U);
  EXPECT_EQ(count("Z2xZ2", 2), 3U);
}

TEST(FiniteGroup, RefusesOtherNames) {
  for (const char* name : {"", "S", "S0", "S-1", "s5", "Q7", "D2", "X5", "S5x", "xS5", "Z5 * Z2", "S7",
                           "S5xS5", "Z1001", "Z1xZ1xZ1xZ1xZ1", "Z99999999999999999999", "A9"}) {
    EXPECT_THROW(find_group(name), Error) << name;
  }
  EXPECT_EQ(group_name("A4 x Z5"), "A4xZ5");
}

}  // namespace
}  // namespace che
