#include "models/ops/dropout/dropout.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>
#include <vector>

#include "models/ops/device/step_uploads.h"

namespace che {

namespace reference {

namespace {

// The factor of each value of (replicas, batch, rows, width).
at::Tensor factors(const std::vector<std::int64_t>& shape, const DropoutSite& site) {
  at::Tensor all = at::empty(shape, at::TensorOptions().dtype(at::kFloat));
  const auto per_example = static_cast<std::size_t>(shape[2] * shape[3]);
  const auto first_index = static_cast<std::uint64_t>(site.first_token * shape[3]);
  const DropoutKeys keys(site);
  auto* row = all.data_ptr<float>();
  for (std::int64_t r = 0; r < shape[0]; ++r) {
    for (std::int64_t b = 0; b < shape[1]; ++b, row += per_example) {
      dropout_factors(keys.draws().bits(r, b), first_index, {row, per_example});
    }
  }
  return all;
}

}  // namespace

at::Tensor dropout(const at::Tensor& x, const DropoutSite& site, const Backend& backend) {
  const Dropout& dropout = site.dropout;
  if (dropout.rate == 0) return x;
  dropout.check_seeds(x.size(0));
  const HostTensor all = [shape = x.sizes().vec(), site] { return factors(shape, site); };
  return x * upload_each_step(backend, all, x.options());
}

}  // namespace reference

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor times_factors(const at::Tensor& x, const DropoutKeys& keys, const Backend& backend) {
  RECORD_FUNCTION("che::dropout", {});
  const at::Tensor out = at::empty(x.sizes(), x.options());
  run_kernel(backend, "dropout", device_kernels(backend).dropout.apply,
             {.replicas = x.size(0),
              .batch = x.size(1),
              .rows = x.size(2),
              .width = x.size(3),
              .values = x.const_data_ptr<float>(),
              .draws = keys.draws()},
             out.mutable_data_ptr<float>());
  return out;
}

class DropoutFunction : public torch::autograd::Function<DropoutFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const DropoutKeys& keys,
                            const Backend& backend) {
    keep(context, std::pair(keys, backend));
    return times_factors(x, keys, backend);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto& [keys, backend] = kept<std::pair<DropoutKeys, Backend>>(context);
    return {times_factors(gradients[0].contiguous(), keys, backend), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor dropout(const at::Tensor& x, const DropoutSite& site, const Backend& backend) {
  if (site.dropout.rate == 0) return x;
  site.dropout.check_seeds(x.size(0));
  const KernelTable* const fused = fused_kernels(backend, x);
  if (fused == nullptr || !fused->dropout.serves(x.size(0), x.size(1))) {
    return reference::dropout(x, site, backend);
  }
  return DropoutFunction::apply(x.contiguous(), DropoutKeys(site), backend);
}

}  // namespace che
