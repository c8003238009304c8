#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/settings/parameter_spec.h"

namespace che {

class ParameterSet;

// Parameters by the part of their name behind a prefix ("layer0.attn.").
class ParameterView {
 public:
  ParameterView(const ParameterSet& set, std::string prefix) : set_(&set), prefix_(std::move(prefix)) {}

  // (replicas, shape...). Throws Error for an unknown name.
  const at::Tensor& operator[](std::string_view name) const;

 private:
  const ParameterSet* set_;
  std::string prefix_;
};

// Every parameter of a model, for all replicas, in one (replicas, size) tensor of which the named ones are
// views, so that clipping, Adam and checkpoints are one pass each. On a GPU there may be gaps between
// replicas.
class ParameterSet {
 public:
  // `specs` have distinct names.
  ParameterSet(std::vector<ParameterSpec> specs, std::int64_t replicas, const at::TensorOptions& options);

  ParameterSet(const ParameterSet&) = delete;
  ParameterSet& operator=(const ParameterSet&) = delete;

  const std::vector<ParameterSpec>& specs() const { return specs_; }
  std::int64_t replicas() const { return values_.size(0); }
  std::int64_t size() const { return values_.size(1); }  // Values of one replica.

  const at::Tensor& values() const { return values_; }        // (replicas, size)
  const at::Tensor& gradients() const { return gradients_; }  // (replicas, size)

  // Moves what backward left in the named tensors' grad() to gradients(); 0 where it left nothing.
  void collect_gradients();

  // (replicas, shape...), a leaf of the graph. Throws Error for an unknown name.
  const at::Tensor& operator[](std::string_view name) const;

  // Draws replica r from seeds[r]: a value depends on the seed, the parameter's name and its index
  // alone, so that an encoding's parameters change no other's.
  void initialise(std::span<const std::int64_t> seeds);

 private:
  std::vector<ParameterSpec> specs_;
  at::Tensor values_;
  at::Tensor gradients_;
  std::map<std::string, at::Tensor, std::less<>> named_;
};

// Values of one replica of `specs`.
std::int64_t parameter_count(const std::vector<ParameterSpec>& specs);

}  // namespace che
