// Recurrent machines against numbers made with the published program (tests/reference/machines): logits with
// the memory of training and of evaluation, gradients, and 20 training steps, alone and in lock-step.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/learn/training.h"
#include "models/architectures/recurrent.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

using nlohmann::json;

// The replica that has the file's parameters, and its companions.
struct Place {
  std::int64_t replicas, own;
};

class RecurrentReference : public testing::TestWithParam<std::string> {
 protected:
  // The companions have other parameters.
  std::unique_ptr<Model> model_of(const Place& place, Kernels kernels, at::ScalarType type) const {
    ModelParts parts{.options = options(), .vocabulary = vocabulary()};
    const Backend backend{kernels, at::TensorOptions().dtype(type)};
    auto model =
        Registry<Architecture>::instance().get(GetParam()).make(std::move(parts), place.replicas, backend);
    const json& parameters = file_.at("parameters");
    EXPECT_EQ(parameters.size(), model->parameters().specs().size());
    for (const auto& [name, value] : parameters.items()) {
      for (std::int64_t r = 0; r < place.replicas; ++r) {
        const double factor = r == place.own ? 1 : 0.5 + static_cast<double>(r);
        model->parameters()[name].data()[r].copy_(reference_input(value) * factor);
      }
    }
    return model;
  }

  AnyOptions options() const {
    AnyOptions options = Registry<ModelEntry>::instance().get(GetParam()).options;
    OptionValues values{{"width", file_.at("width").dump()}};
    for (const char* name : {"memory_cell", "memory_size", "memory_size_test"}) {
      if (options.values().contains(name)) values[name] = file_.at(name).dump();
    }
    return options.with(values);
  }

  Vocabulary vocabulary() const {
    return {file_.at("input_symbols").get<std::int64_t>() + 1, file_.at("classes").get<std::int64_t>()};
  }

  // The symbols are followed by one empty token for each output.
  TensorBatch batch(std::size_t step) const {
    const json& stored = file_.at("batches").at(step);
    const at::Tensor output = reference_list(stored.at("output")).to(at::kLong);
    const at::Tensor empty = at::full_like(output, vocabulary().tokens - 1);
    return {at::cat({reference_list(stored.at("input")).to(at::kLong), empty}, 1), output,
            reference_list(stored.at("mask")).to(at::kByte)};
  }

  json file_ = read_reference(reference_dir() / "machines" / (GetParam() + ".json"));
};

// The file's section for a precision, and how far results may be from it: its numbers have nine digits.
struct Precision {
  at::ScalarType type;
  const char* section;
  double tolerance;
};
constexpr Precision kFloat{at::kFloat, "float", 1e-5};
constexpr Precision kDouble{at::kDouble, "double", 2e-8};

TEST_P(RecurrentReference, Logits) {
  for (const Place place : {Place{1, 0}, Place{3, 1}}) {
    for (const auto& [kernels, precision] :
         {std::pair(Kernels::kReference, kDouble), std::pair(Kernels::kReference, kFloat),
          std::pair(Kernels::kFused, kFloat)}) {
      const auto model = model_of(place, kernels, precision.type);
      for (const bool evaluation : {false, true}) {
        const TensorBatch first = batch(0);
        const at::Tensor logits = model->forward(first.tokens, first.outputs(),
                                                 {.positions = Positions(), .is_evaluation = evaluation});
        at::Tensor expected =
            reference_tensor(file_.at(precision.section).at(evaluation ? "logits_test" : "logits"));
        // A task with one output has no dimension for it.
        if (expected.dim() == 2) expected = expected.unsqueeze(1);
        EXPECT_EQ("", difference(logits[place.own], expected, precision.tolerance))
            << precision.section << (evaluation ? ", memory of evaluation" : "");
      }
    }
  }
}

TEST_P(RecurrentReference, TwentyTrainingSteps) {
  for (const Place place : {Place{1, 0}, Place{3, 1}}) {
    for (const auto& [kernels, precision] :
         {std::pair(Kernels::kReference, kDouble), std::pair(Kernels::kReference, kFloat),
          std::pair(Kernels::kFused, kFloat)}) {
      SCOPED_TRACE(std::string(precision.section) + (kernels == Kernels::kFused ? ", fused" : ", reference"));
      const auto model = model_of(place, kernels, precision.type);
      const std::vector<double> rates(static_cast<std::size_t>(place.replicas), file_.at("learning_rate"));
      Adam adam(model->parameters(), rates, {.clip_norm = file_.at("clip_norm")}, model->backend());
      const json& expected = file_.at(precision.section);
      const auto own = static_cast<std::size_t>(place.own);
      std::vector<double> loss, accuracy, norm;
      for (std::size_t step = 0; step < file_.at("batches").size(); ++step) {
        const StepResult result = read_result(training_step(
            *model, adam, batch(step), {.positions = Positions()}, static_cast<std::int64_t>(step)));
        loss.push_back(result.loss[own]);
        accuracy.push_back(result.accuracy[own]);
        norm.push_back(result.gradient_norm[own]);
        if (step > 0 || !expected.contains("gradients")) continue;
        std::int64_t offset = 0;
        for (const ParameterSpec& spec : model->parameters().specs()) {
          const std::int64_t count = parameter_count({spec});
          const at::Tensor gradient =
              model->parameters().gradients()[place.own].narrow(0, offset, count).view(spec.shape);
          EXPECT_EQ("", difference(gradient, reference_tensor(expected.at("gradients").at(spec.name)), 1e-5))
              << spec.name;
          offset += count;
        }
      }
      const auto expect_curve = [&](const std::vector<double>& actual, const char* name, double tolerance) {
        EXPECT_EQ("",
                  difference(at::tensor(actual, at::kDouble), reference_list(expected.at(name)), tolerance))
            << name;
      };
      expect_curve(loss, "loss", precision.tolerance);
      expect_curve(accuracy, "accuracy", 1e-6);
      expect_curve(norm, "gradient_norm", 10 * precision.tolerance);
      for (const auto& [name, value] : expected.at("final").items()) {
        EXPECT_EQ("", difference(model->parameters()[name][place.own], reference_tensor(value),
                                 precision.tolerance))
            << name;
      }
      for (const auto& [name, value] : expected.at("final_sums").items()) {
        const at::Tensor parameter = model->parameters()[name][place.own].detach().to(at::kDouble);
        const at::Tensor sums = at::stack({parameter.sum(), parameter.square().sum()});
        // A sum over n values of which each may differ.
        const double slack = precision.tolerance * std::sqrt(static_cast<double>(parameter.numel()));
        EXPECT_EQ("", difference(sums, reference_list(value), slack)) << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, RecurrentReference,
                         testing::Values("rnn", "lstm", "gru", "stack_rnn", "stack_lstm", "tape_rnn"),
                         [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace che
