// Whole models and training steps against numbers made with the published program
// (tests/reference/model, tests/reference/training).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "experiments/learn/training.h"
#include "models/architectures/encoder_model.h"
#include "tests/models/explicit_positions.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

using nlohmann::json;
using Lists = Positions::Lists;

std::unique_ptr<Encoder> model_of(const json& file, const json& parameters, const at::TensorOptions& options,
                                  OptionValues encoding_options = {}) {
  const json& config = file.at("config");
  const ModelShape shape{config.at("embedding_dim"), config.at("num_layers"), config.at("num_heads"),
                         config.at("widening_factor")};
  if (parameters.contains("pos.table")) {
    encoding_options["rows"] = parameters.at("pos.table").at("shape").at(0).dump();
  }
  const std::string encoding = encoding_name(file.at("encoding"));
  const AnyOptions set = Registry<EncodingEntry>::instance().get(encoding).options.with(encoding_options);
  // The empty token comes after the input's symbols.
  const Vocabulary vocabulary{config.at("input_vocab").get<std::int64_t>() + 1, config.at("output_classes")};
  auto model = std::make_unique<Encoder>(ModelParts{shape, vocabulary, create_encoding(encoding, set)}, 1,
                                         Backend{Kernels::kReference, options});
  for (const auto& [name, value] : parameters.items()) {
    model->parameters()[name].data().copy_(reference_input(value).unsqueeze(0));
  }
  EXPECT_EQ(parameters.size(), model->parameters().specs().size());
  return model;
}

// Of the only replica, from the collected gradients.
at::Tensor gradient_of(const Encoder& model, const std::string& name) {
  std::int64_t offset = 0;
  for (const ParameterSpec& spec : model.parameters().specs()) {
    const std::int64_t count = parameter_count({spec});
    if (spec.name == name) return model.parameters().gradients()[0].narrow(0, offset, count).view(spec.shape);
    offset += count;
  }
  return {};
}

// Runs `check` on every file of a folder of the reference files, whatever files there are.
void for_each_file(const std::string& folder, const std::function<void(const json& file)>& check) {
  const auto files = reference_files(folder);
  ASSERT_FALSE(files.empty()) << "no files in " << reference_dir() / folder;
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename());
    const json file = read_reference(path);
    const std::string encoding = encoding_name(file.at("encoding"));
    EXPECT_TRUE(encoding_exists(encoding)) << encoding << ": encoding not registered";
    if (encoding_exists(encoding)) check(file);
  }
}

// Compares the section's logits `name`, in single precision and in their double twin, if it has one.
void expect_logits(const json& file, const json& section, const std::string& name, const Positions& positions,
                   const OptionValues& encoding_options = {}) {
  ASSERT_TRUE(section.contains(name)) << name;
  for (const bool twin : {false, true}) {
    const std::string key = twin ? name + "_f64" : name;
    if (!section.contains(key)) continue;
    SCOPED_TRACE(key);
    // The published program fixes the rotation's frequencies to single precision, which its double
    // twin shows: 1e-7 to 1e-5.
    const double tolerance = twin && file.at("encoding") != "ROTARY" ? 1e-8 : 1e-5;
    const auto options = at::TensorOptions().dtype(twin ? at::kDouble : at::kFloat);
    const auto model = model_of(file, file.at("params"), options, encoding_options);
    const at::Tensor tokens = reference_tensor(file.at("input_tokens_with_empty")).to(at::kLong);
    const at::Tensor logits =
        model->forward(tokens, file.at("config").at("output_length"), {.positions = positions});
    EXPECT_EQ("", difference(logits.squeeze(0), reference_tensor(section.at(key)), tolerance));
  }
}

TEST(ModelReference, Logits) {
  for_each_file("model", [](const json& file) { expect_logits(file, file, "logits", Positions()); });
}

TEST(ModelReference, RandomizedLogits) {
  for_each_file("model", [](const json& file) {
    if (!file.contains("randomized")) return;
    const json& section = file.at("randomized");
    const std::int64_t limit = section.at("noise_max_length");
    const auto positions = [&]() -> Positions {
      if (section.contains("distances_per_layer")) {
        return positions_with_distances(section.at("distances_per_layer").get<Lists>(), limit);
      }
      if (section.contains("positions_per_layer")) {
        return Positions::given(section.at("positions_per_layer").get<Lists>(), {}, limit);
      }
      return Positions::given({section.at("positions").get<Positions::List>()}, {}, limit);
    }();
    if (section.contains("logits_intended")) {
      expect_logits(file, section, "logits_intended", positions, {{"randomized_relative", "intended"}});
      expect_logits(file, section, "logits_as_released", positions, {{"randomized_relative", "as_released"}});
    } else {
      expect_logits(file, section, "logits", positions);
    }
  });
}

// 20 updates from the published start, in both precisions.
void expect_curve_of(const json& file) {
  const json& config = file.at("config");
  const json& adam_config = file.at("optimizer").at("adam");
  ASSERT_EQ(0, config.at("dropout").get<double>());
  for (const bool twin : {false, true}) {
    const std::string suffix = twin ? "_f64" : "";
    SCOPED_TRACE(twin ? "double" : "float");
    const auto options = at::TensorOptions().dtype(twin ? at::kDouble : at::kFloat);
    const auto model = model_of(file, file.at("initial_params"), options);
    Adam adam(model->parameters(), {adam_config.at("learning_rate").get<double>()},
              {.clip_norm = file.at("optimizer").at("clip_global_norm")}, model->backend());

    std::vector<double> loss;
    std::vector<double> accuracy;
    std::vector<double> norm;
    for (std::int64_t step = 0; step < file.at("steps").get<std::int64_t>(); ++step) {
      const json& stored = file.at("batches").at(static_cast<std::size_t>(step));
      const at::Tensor input = reference_list(stored.at("input")).to(at::kLong);
      const at::Tensor output = reference_list(stored.at("output")).to(at::kLong);
      const at::Tensor empty = at::full_like(output, config.at("empty_token_id").get<std::int64_t>());
      const TensorBatch batch{at::cat({input, empty}, 1), output,
                              reference_list(stored.at("mask")).to(at::kByte)};
      const StepResult result =
          read_result(training_step(*model, adam, batch, {.positions = Positions()}, step));
      loss.push_back(result.loss[0]);
      accuracy.push_back(result.accuracy[0]);
      norm.push_back(result.gradient_norm[0]);
      if (step == 0 && !twin) {
        for (const auto& [name, value] : file.at("step0_gradients_before_clip").items()) {
          EXPECT_EQ("", difference(gradient_of(*model, name), reference_tensor(value), 1e-5)) << name;
        }
      }
    }
    const auto expect_curve = [&](const std::vector<double>& actual, const std::string& name,
                                  double tolerance) {
      EXPECT_EQ(
          "", difference(at::tensor(actual, at::kDouble), reference_list(file.at(name + suffix)), tolerance))
          << name;
    };
    expect_curve(loss, "loss", twin ? 1e-7 : 1e-5);
    expect_curve(accuracy, "accuracy", 1e-6);
    // The README of the reference files: single and double differ by up to 5e-4 in the norm, 2e-6
    // in parameters, and more in wr, whose gradient is partly zero up to rounding.
    expect_curve(norm, "grad_norm_before_clip", twin ? 1e-6 : 5e-4);
    const auto is_relative_weight = [](const std::string& name) { return name.ends_with(".wr"); };
    for (const auto& [name, value] : file.at("final_tensors" + suffix).items()) {
      const double tolerance = is_relative_weight(name) ? 1e-3 : twin ? 1e-7 : 1e-5;
      EXPECT_EQ("", difference(model->parameters()[name].squeeze(0), reference_tensor(value), tolerance))
          << name;
    }
    for (const auto& [name, value] : file.at("final_checksums").items()) {
      const at::Tensor parameter = model->parameters()[name].detach().to(at::kDouble);
      const at::Tensor sums = at::stack({parameter.sum(), parameter.square().sum()});
      const at::Tensor expected = at::tensor(
          {value.at("sum" + suffix).get<double>(), value.at("sum_of_squares" + suffix).get<double>()},
          at::kDouble);
      // A sum over n values of which each may differ by 2e-6.
      const double slack =
          twin ? 1e-6 : 1e-5 * std::max(1.0, std::sqrt(static_cast<double>(parameter.numel())) / 10);
      EXPECT_EQ("", difference(sums, expected, is_relative_weight(name) ? 2e-3 : slack)) << name;
    }
  }
}

TEST(TrainingReference, Curves) { for_each_file("training", expect_curve_of); }

}  // namespace
}  // namespace che
