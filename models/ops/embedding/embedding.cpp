#include "models/ops/embedding/embedding.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "models/ops/product/product.h"

namespace che {

namespace reference {

at::Tensor one_hot(const at::Tensor& tokens, std::int64_t symbols, std::int64_t replicas,
                   const at::TensorOptions& options) {
  return at::one_hot(tokens, symbols).to(options).unsqueeze(0).expand({replicas, -1, -1, -1});
}

at::Tensor embedding(const at::Tensor& one_hot, const at::Tensor& table) {
  return product(one_hot.reshape({one_hot.size(0), -1, one_hot.size(3)}), table)
      .view({one_hot.size(0), one_hot.size(1), one_hot.size(2), -1});
}

at::Tensor gather(const at::Tensor& tokens, const at::Tensor& table) {
  std::vector<at::Tensor> rows;
  for (const at::Tensor& of_replica : table.unbind(0)) rows.push_back(at::embedding(of_replica, tokens));
  return at::stack(rows);
}

}  // namespace reference

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

EmbeddingInputs inputs_of(const at::Tensor& ids, std::int64_t replicas, std::int64_t symbols,
                          std::int64_t width) {
  return {.replicas = replicas,
          .batch = ids.size(0),
          .tokens = ids.size(1),
          .symbols = symbols,
          .width = width,
          .ids = ids.const_data_ptr<std::int64_t>(),
          .id_stride = ids.stride(0)};
}

class Rows : public torch::autograd::Function<Rows> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& table, const at::Tensor& ids,
                            const Backend& backend) {
    context->save_for_backward({ids});
    keep(context, std::pair(table.size(1), backend));
    const at::Tensor out =
        at::empty({table.size(0), ids.size(0), ids.size(1), table.size(2)}, table.options());
    run_kernel(backend, "embedding", device_kernels(backend).embedding.forward,
               inputs_of(ids, table.size(0), table.size(1), table.size(2)), table.const_data_ptr<float>(),
               out.mutable_data_ptr<float>());
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor ids = context->get_saved_variables()[0];
    const at::Tensor d_out = gradients[0].contiguous();
    const auto& [symbols, backend] = kept<std::pair<std::int64_t, Backend>>(context);
    const at::Tensor d_table = at::empty({d_out.size(0), symbols, d_out.size(3)}, d_out.options());
    run_kernel(backend, "embedding's gradient", device_kernels(backend).embedding.backward,
               inputs_of(ids, d_out.size(0), symbols, d_out.size(3)), d_out.const_data_ptr<float>(),
               d_table.mutable_data_ptr<float>());
    return {d_table, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

Embedding::Embedding(const at::Tensor& tokens, std::int64_t symbols, std::int64_t replicas,
                     const Backend& backend)
    : backend_(backend), tokens_(tokens.contiguous()), symbols_(symbols), replicas_(replicas) {
  if (tokens.dim() != 2) {
    throw Error(
        fmt::format("embedding: tokens: expected (batch, tokens), got ({})", fmt::join(tokens.sizes(), ", ")),
        ErrorKind::kRuntime);
  }
  check_operand("embedding: tokens", tokens, tokens.sizes(), at::kLong, backend.options.device());
  const KernelTable* const fused = fused_kernels(backend);
  if (fused != nullptr && fused->embedding.serves != nullptr && fused->embedding.serves(replicas, symbols)) {
    is_fused_ = true;
    return;
  }
  if (symbols <= kMostOneHot) one_hot_ = reference::one_hot(tokens, symbols, replicas, backend.options);
}

at::Tensor Embedding::rows(const at::Tensor& table, std::int64_t first) const {
  check_operand("embedding: table", table, {replicas_, symbols_, table.size(-1)}, table);
  if (one_hot_.defined()) return reference::embedding(one_hot_.slice(2, first), table);
  if (!is_fused_) return reference::gather(tokens_.slice(1, first), table);
  return Rows::apply(table.contiguous(), tokens_.slice(1, first), backend_);
}

}  // namespace che
