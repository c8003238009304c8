#include "models/adam.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/kernels/adam_simd.h"
#include "models/kernels/fused_use.h"
#include "models/kernels/pieces.h"

namespace che {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;

// A replica's values in pieces for several threads.
constexpr std::int64_t kPieceValues = 1 << 16;
Pieces pieces_of(std::int64_t values) {
  const std::int64_t count = (values + kPieceValues - 1) / kPieceValues;
  return {count, count};
}

// Of every replica's gradient, (replicas).
at::Tensor fused_norms(const at::Tensor& gradients) {
  const at::Tensor norms = at::empty({gradients.size(0)}, gradients.options());
  const Pieces pieces = pieces_of(gradients.size(1));
  for (std::int64_t r = 0; r < gradients.size(0); ++r) {
    const float* const values = gradients.const_data_ptr<float>() + r * gradients.size(1);
    std::vector<double> sums(static_cast<std::size_t>(pieces.count()));
    pieces.for_each([&](std::int64_t, std::int64_t piece) {
      const std::int64_t first = piece * kPieceValues;
      sums[static_cast<std::size_t>(piece)] =
          sum_of_squares(values + first, std::min(kPieceValues, gradients.size(1) - first));
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    norms.mutable_data_ptr<float>()[r] = static_cast<float>(std::sqrt(total));
  }
  return norms;
}

}  // namespace

Adam::Adam(const ParameterSet& parameters, const std::vector<double>& rates, double clip, Kernels which)
    : first_moment(at::zeros_like(parameters.values())),
      second_moment(at::zeros_like(parameters.values())),
      learning_rates(at::tensor(rates, at::kDouble).to(parameters.values().options()).unsqueeze(1)),
      clip_norm(clip),
      kernels(which) {}

at::Tensor Adam::update(ParameterSet& parameters, std::int64_t step) {
  RECORD_FUNCTION("che::adam", {});
  const c10::NoGradGuard no_grad;
  if (runs_fused(kernels, parameters.values())) {
    at::Tensor norms = fused_norms(parameters.gradients());
    update_fused(parameters, norms, step);
    return norms;
  }
  at::Tensor norms = at::linalg_vector_norm(parameters.gradients(), 2, at::IntArrayRef{1});
  update_composed(parameters, norms, step);
  return norms;
}

void Adam::update_fused(const ParameterSet& parameters, const at::Tensor& norms, std::int64_t step) {
  const std::int64_t size = parameters.size();
  const auto updates = static_cast<double>(step + 1);
  for (std::int64_t r = 0; r < parameters.replicas(); ++r) {
    const double norm = norms.const_data_ptr<float>()[r];
    const double rate = learning_rates.const_data_ptr<float>()[r];
    // A norm that is no number makes the update none either, as in the composed form.
    const double clipped = norm < clip_norm ? clip_norm : norm;
    const AdamFactors factors{.beta1 = static_cast<float>(kBeta1),
                              .beta2 = static_cast<float>(kBeta2),
                              .rest1 = static_cast<float>(1 - kBeta1),
                              .rest2 = static_cast<float>(1 - kBeta2),
                              .gradient_scale = static_cast<float>(clip_norm / clipped),
                              .rate = static_cast<float>(rate / (1 - std::pow(kBeta1, updates))),
                              .second_scale = static_cast<float>(1 / (1 - std::pow(kBeta2, updates))),
                              .epsilon = static_cast<float>(kEpsilon)};
    pieces_of(size).for_each([&](std::int64_t, std::int64_t piece) {
      const std::int64_t first = piece * kPieceValues;
      const auto part = [&](const at::Tensor& values) {
        return values.mutable_data_ptr<float>() + r * size + first;
      };
      adam_update(factors, part(parameters.gradients()), part(first_moment), part(second_moment),
                  part(parameters.values()), std::min(kPieceValues, size - first));
    });
  }
}

void Adam::update_composed(const ParameterSet& parameters, const at::Tensor& norms, std::int64_t step) {
  const at::Tensor gradients =
      parameters.gradients() * (clip_norm / at::clamp_min(norms, clip_norm)).unsqueeze(1);
  first_moment.mul_(kBeta1).add_(gradients, 1 - kBeta1);
  second_moment.mul_(kBeta2).addcmul_(gradients, gradients, 1 - kBeta2);
  const auto updates = static_cast<double>(step + 1);
  const at::Tensor denominator = (second_moment / (1 - std::pow(kBeta2, updates))).sqrt_().add_(kEpsilon);
  parameters.values().sub_(learning_rates * (first_moment / (1 - std::pow(kBeta1, updates))) / denominator);
}

}  // namespace che
