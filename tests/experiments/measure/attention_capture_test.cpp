#include "experiments/measure/attention_capture.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/learn/batches.h"
#include "experiments/learn/job.h"
#include "experiments/learn/model_factory.h"
#include "experiments/plan/run_workload.h"
#include "models/settings/encoding_entry.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/message_of.h"
#include "tests/models/encodings/encoding_models.h"
#include "tests/models/reference_files.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

RunConfig small_run(const std::string& encoding) {
  RunConfig config;
  config.task.reset("reverse_string");
  config.encoding.reset(encoding);
  config.encoding.max_position = 128;
  config.seed = 3;
  config.model.shape() = {.width = 8, .layers = 2, .heads = 2, .ffn_multiple = 2};
  config.training = {.steps = 5, .batch_size = 4, .first_length = 1, .last_length = 5};
  config.evaluation = {.first_length = 6, .last_length = 7, .length_step = 1, .samples = 128, .seed = 9};
  return config;
}

std::unique_ptr<Model> initialised(const RunConfig& config) { return initialised(config, {config.seed}); }

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_TRUE(std::abs(actual[i] - expected[i]) <= 1e-5 * std::max(1.0F, std::abs(expected[i])))
        << i << ": " << actual[i] << " instead of " << expected[i];
  }
}

TEST(BiasCapture, HoldsWhatKerplesFormulaGives) {
  const RunConfig config = small_run("kerple");
  const auto model = initialised(config);
  const AttentionBias bias = capture_bias(*model, config, {.length = 6, .sample = 0});
  ASSERT_EQ(2, bias.layers);
  ASSERT_EQ(2, bias.heads);
  ASSERT_EQ(12, bias.tokens);
  EXPECT_EQ(6, bias.first_output);
  for (std::int64_t layer = 0; layer < bias.layers; ++layer) {
    const std::string prefix = "layer" + std::to_string(layer) + ".attn.";
    for (std::int64_t head = 0; head < bias.heads; ++head) {
      const auto p = model->parameters()[prefix + "p"][0][head].item<double>();
      const auto a = model->parameters()[prefix + "a"][0][head].item<double>();
      for (std::int64_t i = 0; i < bias.tokens; ++i) {
        for (std::int64_t j = 0; j < bias.tokens; ++j) {
          const double distance = std::abs(static_cast<double>(j - i));
          EXPECT_NEAR(-p * std::log1p(a * distance), bias.bias[bias.index(layer, head, i, j)], 1e-5);
        }
      }
    }
  }
}

TEST(BiasCapture, AddsNothingToTheBiasOfAPlainEncoding) {
  for (const char* encoding : {"kerple", "alibi", "fire", "t5", "randomized_kerple"}) {
    SCOPED_TRACE(encoding);
    const RunConfig config = small_run(encoding);
    const AttentionBias bias = capture_bias(*initialised(config), config, {.length = 7, .sample = 5});
    expect_near(bias.adapted, bias.bias);
  }
}

// Kerple's bias is -p log(1 + a |distance|), whichever way randomized distances are drawn.
TEST(BiasCapture, HasTheDistancesThatTheEncodingSees) {
  for (const char* drawn : {"per_offset", "per_position"}) {
    SCOPED_TRACE(drawn);
    RunConfig config = small_run("randomized_kerple");
    config.encoding.options =
        Registry<EncodingEntry>::instance().get("kerple").options.with({{"randomized_distance", drawn}});
    const auto model = initialised(config);
    const AttentionBias bias = capture_bias(*model, config, {.length = 6, .sample = 0});
    ASSERT_EQ(2U * 12 * 12, bias.distance.size());
    EXPECT_GT(std::ranges::max(bias.distance), 11) << "positions are randomized";
    const auto p = model->parameters()["layer1.attn.p"][0][1].item<double>();
    const auto a = model->parameters()["layer1.attn.a"][0][1].item<double>();
    for (std::size_t pair = 0; pair < 12 * 12; ++pair) {
      const auto distance = static_cast<double>(std::abs(bias.distance[12 * 12 + pair]));
      EXPECT_NEAR(-p * std::log1p(a * distance), bias.bias[bias.index(1, 1, 0, 0) + pair], 1e-4);
    }
  }
}

TEST(BiasCapture, WritesALineForEachPair) {
  const RunConfig config = small_run("kerple");
  const std::string csv =
      attention_bias_csv(capture_bias(*initialised(config), config, {.length = 6, .sample = 0}));
  EXPECT_TRUE(csv.starts_with("layer,head,query,key,output,distance,logit,bias,adapted\n0,0,0,0,0,0,"));
  EXPECT_TRUE(contains(csv, "\n1,0,3,5,0,2,"));
  EXPECT_TRUE(contains(csv, "\n1,1,7,6,1,-1,"));
}

TEST(BiasCapture, OfADecoderHasALineForEachKeyUpToTheQuery) {
  RunConfig config = small_run("dape_kerple");
  config.model.kind = "decoder";
  const AttentionBias bias = capture_bias(*initialised(config), config, {.length = 6, .sample = 0});
  const std::string csv = attention_bias_csv(bias);
  EXPECT_EQ(1 + 2 * 2 * (12 * 13 / 2), std::ranges::count(csv, '\n'));
  EXPECT_TRUE(contains(csv, "\n1,1,7,7,1,0,"));
  EXPECT_FALSE(contains(csv, "\n1,1,7,8,"));
  EXPECT_TRUE(std::ranges::all_of(bias.adapted, [](float value) { return std::isfinite(value); }));
}

TEST(BiasCapture, OfAHeadWithAWindowHasALineForEachKeyInIt) {
  RunConfig config = small_run("dape_kerple");
  config.encoding.window = {.reach = 2, .heads = 1};
  const AttentionBias bias = capture_bias(*initialised(config), config, {.length = 6, .sample = 0});
  const std::string csv = attention_bias_csv(bias);
  const std::int64_t in_window = 12 * 5 - 2 * (1 + 2);
  EXPECT_EQ(1 + 2 * (in_window + 12 * 12), std::ranges::count(csv, '\n'));
  EXPECT_TRUE(contains(csv, "\n1,0,3,5,0,2,"));
  EXPECT_FALSE(contains(csv, "\n1,0,3,6,"));
  EXPECT_TRUE(contains(csv, "\n1,1,3,6,"));
  EXPECT_FALSE(contains(csv, "e+09"));
}

RunConfig small_text_run(const std::string& encoding) {
  RunConfig config = read("name: x\nbase: {text: austen, encoding: " + encoding +
                          ", model: {width: 8, layers: 2, heads: 2}, training: {steps: 5}, evaluation: "
                          "{lengths: [128], samples: 64}}\n")
                         .runs.front();
  config.seed = 3;
  return config;
}

// In a long window one query has the numbers that it has among all, whether or not kernels are fused and
// whether f reads neighbouring keys. The window is longer than the run's test lengths.
TEST(BiasCapture, OfALongWindowHasOneQuery) {
  constexpr std::int64_t kLength = 520;
  constexpr std::int64_t kQuery = 300;
  const c10::NoGradGuard no_grad;
  for (const char* encoding : {"{name: kerple, dape: {hidden: 4}}",
                               "{name: kerple, dape: {hidden: 4, kernel: 1x3}}", "fire", "fox", "alibi"}) {
    SCOPED_TRACE(encoding);
    RunConfig config = small_text_run(encoding);
    config.model.shape().heads = 4;
    const auto model = initialised(config);
    const AttentionBias one = capture_bias(*model, config, {.length = kLength, .query = kQuery});
    ASSERT_FALSE(one.has_all_queries);
    EXPECT_EQ(one.first_output, kLength) << "no key of a text stands for an output";
    RunConfig drawn = config;
    drawn.evaluation.text.longest = kLength;
    SequenceBatch batch;
    create_workload(drawn)->evaluation_batch(kLength, 0, 1, batch);
    std::vector<float> logit, adapted;
    const auto observe = [&](std::int64_t, const AttentionLogits& layer) {
      const auto add = [&](const at::Tensor& of_all, std::vector<float>& to) {
        const at::Tensor row = of_all[0][0].select(1, kQuery).slice(1, 0, kQuery + 1).contiguous();
        to.insert(to.end(), row.data_ptr<float>(), row.data_ptr<float>() + row.numel());
      };
      add(layer.scaled, logit);
      add(layer.total - layer.scaled, adapted);
    };
    const Positions positions;
    model->features(to_tensors(batch, 0, 1, at::kCPU).tokens, kLength,
                    {.positions = positions, .observer = observe});
    std::vector<float> of_one[2];
    for (std::size_t i = 0; i < one.logit.size(); ++i) {
      if (i % kLength > kQuery) continue;
      of_one[0].push_back(one.logit[i]);
      of_one[1].push_back(one.adapted[i]);
    }
    expect_near(of_one[0], logit);
    expect_near(of_one[1], adapted);
    const std::string csv = attention_bias_csv(one);
    EXPECT_EQ(1 + 2 * 4 * (kQuery + 1), std::ranges::count(csv, '\n'));
    EXPECT_TRUE(contains(csv, "\n1,3,300,298,0,-2,")) << csv.substr(0, 200);
  }
}

// Memory grows with the window, and what one query cannot be written of is refused.
TEST(BiasCapture, OfALongWindowIsBounded) {
  const RunConfig config = small_text_run("kerple");
  const auto model = initialised(config);
  const auto refusal = [&](std::int64_t length, double memory_gib) {
    return message_of([&] { capture_bias(*model, config, {.length = length, .memory_gib = memory_gib}); });
  };
  EXPECT_EQ(capture_bias(*model, config, {.length = 1024}).chosen_query, 1023);
  EXPECT_EQ("(no error)", refusal(8192, 0.06)) << "every query over every key would be 1 GiB";
  expect_contains(refusal(8192, 0.001), {"--length 8192", "one over all", "--memory-gib"});
  expect_contains(refusal(300'000, 1), {"1200000 pairs", "allowed: 1048576", "262144 tokens"});
  expect_contains(refusal(500'000, 1), {"no document of the test part of austen is longer than 500000"});
}

// A of the first layer, from the parameters alone: the embedding meets no positions there.
TEST(BiasCapture, HoldsTheScaledProductsOfQueriesAndKeys) {
  const c10::NoGradGuard no_grad;
  const RunConfig config = small_run("dape_kerple");
  const auto model = initialised(config);
  constexpr std::int64_t kSample = 70;
  const AttentionBias bias = capture_bias(*model, config, {.length = 6, .sample = kSample});

  // The sample as evaluation draws it, in a batch with others.
  SequenceBatch batch;
  create_workload(config)->evaluation_batch(6, 64, 64, batch);
  const TensorBatch tensors = to_tensors(batch, kSample - 64, 1, at::kCPU);
  const ParameterSet& parameters = model->parameters();
  const at::Tensor x = parameters["embed.w"][0].index_select(0, tensors.tokens[0]) * std::sqrt(8.0);
  const auto heads = [&](const char* name) {
    return at::matmul(x, parameters[std::string("layer0.attn.") + name][0]).view({12, 2, 4}).transpose(0, 1);
  };
  const at::Tensor expected =
      (at::matmul(heads("wq"), heads("wk").transpose(1, 2)) / 2).contiguous();  // (heads, queries, keys)
  const auto count = static_cast<std::size_t>(expected.numel());
  expect_near({bias.logit.begin(), bias.logit.begin() + static_cast<std::ptrdiff_t>(count)},
              {expected.data_ptr<float>(), expected.data_ptr<float>() + count});
}

TEST(BiasCapture, LeavesTheBiasAsItIsWhereDapesNetworkGivesZero) {
  using enum DapeVariant;
  for (const DapeVariant variant : {kConcatResidual, kAddResidual, kBiasOnlyResidual}) {
    SCOPED_TRACE(static_cast<int>(variant));
    RunConfig config = small_run("dape_kerple");
    config.encoding.dape->variant = variant;
    const auto model = initialised(config);
    const AttentionBias before = capture_bias(*model, config, {.length = 6, .sample = 1});
    float largest = 0;
    for (std::size_t i = 0; i < before.bias.size(); ++i) {
      largest = std::max(largest, std::abs(before.adapted[i] - before.bias[i]));
    }
    EXPECT_GT(largest, 1e-2F) << "f has a say";
    for (const char* layer : {"layer0", "layer1"}) {
      for (const char* name : {".attn.dape.w2", ".attn.dape.b2"}) {
        model->parameters()[std::string(layer) + name].data().zero_();
      }
    }
    const AttentionBias after = capture_bias(*model, config, {.length = 6, .sample = 1});
    expect_near(after.adapted, after.bias);
  }
}

// Observed or not, and whatever the number of outputs asked for, a pass gives the same.
TEST(BiasCapture, ObserversChangeNothing) {
  const c10::NoGradGuard no_grad;
  const RunConfig config = small_run("dape_kerple");
  const auto model = initialised(config);
  const at::Tensor tokens = at::arange(5, at::kLong).view({1, 5}).remainder(3);
  const Positions positions;
  std::vector<std::int64_t> layers;
  const auto observe = [&](std::int64_t layer, const AttentionLogits& logits) {
    layers.push_back(layer);
    EXPECT_EQ(layer == 0 ? 5 : 2, logits.scaled.size(3));
    EXPECT_EQ(logits.total.sizes(), logits.scaled.sizes());
  };
  const at::Tensor observed = model->forward(tokens, 2, {.positions = positions, .observer = observe});
  EXPECT_EQ((std::vector<std::int64_t>{0, 1}), layers);
  // Observed attention is not fused.
  EXPECT_EQ("", difference(model->forward(tokens, 2, {.positions = positions}), observed, 1e-6));
}

TEST(BiasCapture, RefusesWhatItCannotShow) {
  const RunConfig config = small_run("dape_kerple");
  const auto model = initialised(config);
  const auto refusal = [&](std::int64_t length, std::int64_t sample, double memory_gib) {
    return message_of([&] {
      capture_bias(*model, config, {.length = length, .sample = sample, .memory_gib = memory_gib});
    });
  };
  expect_contains(refusal(0, 0, 1), {"length"});
  expect_contains(refusal(kMaxLength + 1, 0, 1), {"length"});
  expect_contains(refusal(6, 128, 1), {"0 .. 127"});
  expect_contains(refusal(6, -1, 1), {"0 .. 127"});
  expect_contains(refusal(5000, 0, 1), {"--memory-gib"});
  EXPECT_EQ("(no error)", refusal(6, 127, 1));
  for (const char* name : {"rope", "sin_cos", "learned", "none", "relative", "cope"}) {
    const std::string message = message_of([&] { check_gives_bias(small_run(name)); });
    expect_contains(message, {"adds no bias", "kerple"});
  }
  expect_contains(message_of([&] { check_gives_bias(small_run("dape_none")); }),
                  {"dape_none has no bias that DAPE's f would adapt"});
  RunConfig machine = small_run("none");
  machine.model = {.kind = "lstm"};
  expect_contains(message_of([&] { check_gives_bias(machine); }), {"model.kind lstm", "only encoders"});
}

TEST(BiasCapture, ReadsTheTrainedParametersOfARun) {
  const ScratchFolder scratch;
  const RunFolder run = RunFolder::create(scratch.path() / "a", small_run("dape_kerple"));
  const std::string untrained =
      message_of([&] { restore_model(run, run.config(), DamagedCheckpoints::kLeave); });
  expect_contains(untrained, {"has no checkpoint; train it first"});

  const std::atomic<int> stop{0};
  ASSERT_EQ(JobOutcome::kDone, work_on_job(
                                   {run}, [](const Progress&) {}, stop));
  const RestoredModel restored = restore_model(run, run.config(), DamagedCheckpoints::kLeave);
  EXPECT_EQ(5, restored.step);
  EXPECT_TRUE(restored.warnings.empty());
  EXPECT_FALSE(
      at::equal(initialised(run.config())->parameters().values(), restored.model->parameters().values()));
}

}  // namespace
}  // namespace che
