#include "plots/attention_bias.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "plots/gnuplot/figure_files.h"
#include "tests/contains.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

// Values that tell their place: logit is the index, bias a tenth of it, adapted its negative.
AttentionBias made_up_bias(std::int64_t layers, std::int64_t heads, std::int64_t tokens) {
  AttentionBias bias{.encoding = "dape_kerple",
                     .task = "reverse_string",
                     .length = tokens / 2,
                     .sample = 3,
                     .step = 300,
                     .layers = layers,
                     .heads = heads,
                     .tokens = tokens,
                     .first_output = tokens / 2};
  for (std::int64_t i = 0; i < layers * heads * tokens * tokens; ++i) {
    bias.logit.push_back(static_cast<float>(i));
    bias.bias.push_back(static_cast<float>(i) / 10);
    bias.adapted.push_back(static_cast<float>(-i));
  }
  return bias;
}

TEST(AttentionBias, BecomesCsvWithALineAPair) {
  const std::string csv = attention_bias_csv(made_up_bias(2, 1, 2));
  EXPECT_EQ(
      "layer,head,query,key,logit,bias,adapted\n"
      "0,0,0,0,0,0,0\n0,0,0,1,1,0.1,-1\n0,0,1,0,2,0.2,-2\n0,0,1,1,3,0.3,-3\n"
      "1,0,0,0,4,0.4,-4\n1,0,0,1,5,0.5,-5\n1,0,1,0,6,0.6,-6\n1,0,1,1,7,0.7,-7\n",
      csv);
}

TEST(AttentionBias, ShowsDapesNetworkBesideWhatItIsPartOf) {
  AttentionBias bias = made_up_bias(1, 1, 2);
  bias.has_f = true;
  EXPECT_TRUE(attention_bias_csv(bias).starts_with(
      "layer,head,query,key,logit,bias,adapted,f\n0,0,0,0,0,0,0,0\n0,0,0,1,1,0.1,-1,-1.1\n"));
  EXPECT_TRUE(contains(attention_bias_query_script(bias, 0, "svg", "out.svg"), "using 1:5 with lines"));
  bias.adds_bias = false;
  EXPECT_TRUE(attention_bias_csv(bias).starts_with(
      "layer,head,query,key,logit,bias,adapted,f\n0,0,0,0,0,0,0,0\n0,0,0,1,1,0.1,-1,-1\n"));
  EXPECT_FALSE(
      contains(attention_bias_query_script(made_up_bias(1, 1, 2), 0, "svg", "out.svg"), "using 1:5"));
}

// A column of a paper has two panels a row; the legend then takes two rows.
TEST(AttentionBias, FitsTheWidthOfPaper) {
  const std::string script =
      attention_bias_query_script(made_up_bias(1, 3, 4), 2, FigureFormat("pdf", 85), "out.pdf");
  const std::string wide = attention_bias_query_script(made_up_bias(1, 3, 4), 2, "pdf", "out.pdf");
  const auto left_of = [](const std::string& text, std::size_t panel) {
    std::size_t at = 0;
    for (std::size_t i = 0; i <= panel; ++i) at = text.find("set lmargin at screen ", at + 1);
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_NE(left_of(wide, 0), left_of(wide, 1));
  EXPECT_EQ(left_of(script, 0), left_of(script, 1)) << "one panel a row";
}

TEST(AttentionBias, DrawsOneQueryOverAllKeys) {
  const std::string script = attention_bias_query_script(made_up_bias(2, 3, 4), 2, "svg", "out.svg");
  EXPECT_TRUE(contains(script, "$l0h0 << EOD\n0 8 0.8 -8\n1 9 0.9 -9\n2 10 1 -10\n3 11 1.1 -11\nEOD\n"))
      << script;
  EXPECT_TRUE(contains(script, "$l1h2 << EOD\n0 88 8.8 -88\n"));
  for (const char* part : {"'layer 0, head 0'", "'layer 1, head 2'", "'key'", "'logit'", "'logit A'",
                           "'bias B'", "'adapted bias'", "'output'", "query 2 over all keys",
                           "dape_kerple on reverse_string after 300 steps, length 2, sample 3"}) {
    EXPECT_TRUE(contains(script, part)) << part;
  }
  EXPECT_TRUE(contains(script, "from first 1.5, graph 0 to graph 1, graph 1")) << "output tokens";
}

TEST(AttentionBias, MapsTheAdaptedBias) {
  const std::string script = attention_bias_map_script(made_up_bias(1, 2, 2), "svg", "out.svg");
  EXPECT_TRUE(contains(script, "$map << EOD\n0 -1 \n-2 -3 \nEOD\n")) << script;
  EXPECT_TRUE(contains(script, "$map << EOD\n-4 -5 \n-6 -7 \nEOD\n"));
  EXPECT_TRUE(contains(script, "set cbrange [-7:7]")) << script;
  EXPECT_FALSE(contains(script, "set cbrange [-3")) << "one scale per layer";
  EXPECT_FALSE(contains(script, "mean over"));
}

TEST(AttentionBias, AveragesManyTokensInBlocks) {
  AttentionBias bias = made_up_bias(1, 1, 201);
  for (float& value : bias.adapted) value = 2;
  for (std::int64_t i = 0; i < 2; ++i) bias.adapted[static_cast<std::size_t>(i)] = 6;
  const std::string script = attention_bias_map_script(bias, "svg", "out.svg");
  EXPECT_TRUE(contains(script, "$map << EOD\n4 2 2 "));
  EXPECT_TRUE(contains(script, "mean over 2 x 2 pairs"));
  EXPECT_TRUE(contains(script, "set xrange [-0.5:201.5]")) << "101 blocks";
}

TEST(AttentionBias, DrawsFilesEvenOfConstantValues) {
  const ScratchFolder scratch;
  AttentionBias bias = made_up_bias(1, 5, 6);
  for (std::vector<float>* values : {&bias.logit, &bias.bias, &bias.adapted}) {
    std::fill(values->begin(), values->end(), 0.0F);
  }
  for (const AttentionBias& one : {made_up_bias(2, 2, 10), bias}) {
    draw_figure(scratch.path(), {"query", "query"},
                [&](const FigureFormat& format, const std::filesystem::path& file) {
                  return attention_bias_query_script(one, 5, format, file);
                });
    draw_figure(scratch.path(), {"map", "map"},
                [&](const FigureFormat& format, const std::filesystem::path& file) {
                  return attention_bias_map_script(one, format, file);
                });
    for (const char* name : {"query", "map"}) {
      const std::string svg = read_file(scratch.path() / (std::string(name) + ".svg"));
      EXPECT_GT(svg.size(), 5'000U);
      EXPECT_TRUE(contains(svg, "</svg>"));
      EXPECT_TRUE(contains(svg, "head 1"));
      const std::string png = read_file(scratch.path() / (std::string(name) + ".png"));
      EXPECT_GT(png.size(), 5'000U);
      EXPECT_EQ("PNG", png.substr(1, 3));
    }
  }
  EXPECT_EQ(6, std::distance(std::filesystem::directory_iterator(scratch.path()),
                             std::filesystem::directory_iterator()));
}

}  // namespace
}  // namespace che
