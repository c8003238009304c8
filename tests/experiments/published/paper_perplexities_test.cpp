#include "experiments/published/paper_perplexities.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace che {
namespace {

EncodingConfig encoding(const std::string& shorthand, DapeVariant variant = DapeVariant::kConcatResidual) {
  EncodingConfig config;
  config.reset(shorthand);
  if (config.dape) config.dape = DapeOptions{.hidden = 32, .variant = variant};
  return config;
}

std::optional<PaperValue> paper_perplexity(PaperTable table, std::int64_t length, const EncodingConfig& of) {
  return std::ranges::find(paper_perplexities(), table, &PaperPerplexities::table)->value(length, of);
}

double perplexity(PaperTable table, std::int64_t length, const EncodingConfig& of) {
  const auto value = paper_perplexity(table, length, of);
  return value ? value->score : 0;
}

TEST(PaperPerplexities, HoldTheCornersOfTheTables) {
  using enum PaperTable;
  EXPECT_EQ(perplexity(kArxiv, 512, encoding("rope")), 4.5755);
  EXPECT_EQ(perplexity(kArxiv, 8192, encoding("dape_fire")), 6.1623);
  EXPECT_EQ(perplexity(kArxiv, 2048, encoding("alibi")), 4.8693);
  EXPECT_EQ(perplexity(kBooks3, 128, encoding("relative")), 31.57);
  EXPECT_EQ(perplexity(kBooks3, 8192, encoding("dape_kerple")), 25.01);
  EXPECT_EQ(perplexity(kBooks3Variants, 512, encoding("kerple")), 19.68);
  EXPECT_EQ(perplexity(kBooks3Variants, 8192, encoding("dape_kerple", DapeVariant::kBiasOnlyResidual)),
            23.49);
  EXPECT_EQ(perplexity(kBooks3Variants, 8192, encoding("dape_kerple")), 17.88);
  const auto value = paper_perplexity(kArxiv, 1024, encoding("dape_kerple"));
  ASSERT_TRUE(value);
  EXPECT_EQ(value->deviation, 0.0637);
  EXPECT_EQ(value->column.text(), "dape_kerple");
  EXPECT_EQ(value->table, kArxiv);
  EXPECT_EQ(paper_perplexity(kBooks3, 128, encoding("cope"))->deviation, std::nullopt);
}

TEST(PaperPerplexities, HaveNoNumberForWhatThePaperLacks) {
  using enum PaperTable;
  EXPECT_EQ(perplexity(kArxiv, 512, encoding("none")), 0);
  EXPECT_EQ(perplexity(kArxiv, 768, encoding("rope")), 0) << "another test length";
  EXPECT_EQ(perplexity(kBooks3, 128, encoding("rope")), 0);
  EXPECT_EQ(perplexity(kArxiv, 512, encoding("randomized_rope")), 0);
  EncodingConfig wide = encoding("dape_kerple");
  wide.dape->hidden = 64;
  EXPECT_EQ(perplexity(kArxiv, 512, wide), 0);
  EXPECT_EQ(perplexity(kArxiv, 512, encoding("dape_kerple", DapeVariant::kConcat)), 0);
}

}  // namespace
}  // namespace che
