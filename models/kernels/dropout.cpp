#include "models/kernels/dropout.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include "models/kernels/reference/dropout.h"
#include "models/kernels/stored_site.h"

namespace che {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor times_factors(const at::Tensor& x, const DropoutSite& site) {
  RECORD_FUNCTION("che::dropout", {});
  const at::Tensor out = at::empty(x.sizes(), x.options());
  device_kernels(x).dropout.apply({.replicas = x.size(0),
                                   .batch = x.size(1),
                                   .rows = x.size(2),
                                   .width = x.size(3),
                                   .values = x.const_data_ptr<float>(),
                                   .site = site},
                                  out.mutable_data_ptr<float>());
  return out;
}

class DropoutFunction : public torch::autograd::Function<DropoutFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const DropoutSite& site) {
    context->saved_data["site"] = c10::IValue::make_capsule(c10::make_intrusive<StoredSite>(site));
    return times_factors(x, site);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto& stored = static_cast<const StoredSite&>(*context->saved_data.at("site").toCapsule());
    return {times_factors(gradients[0].contiguous(), stored.site()), at::Tensor()};
  }
};

}  // namespace

at::Tensor dropout(const at::Tensor& x, const DropoutSite& site, const Backend& backend) {
  if (site.dropout.rate == 0) return x;
  site.dropout.check_seeds(x.size(0));
  const KernelTable* const fused = fused_kernels(backend, x);
  if (fused == nullptr || !fused->dropout.serves(x.size(0), x.size(1))) return reference::dropout(x, site);
  return DropoutFunction::apply(x.contiguous(), site);
}

}  // namespace che
