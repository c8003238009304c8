#pragma once

#include <torch/custom_class.h>

#include "models/kernels/forms/dropout.h"

namespace che {

// A DropoutSite that a backward pass finds again: it outlives what the site refers to.
class StoredSite : public torch::CustomClassHolder {
 public:
  explicit StoredSite(const DropoutSite& site)
      : dropout_(site.dropout), site_(site.site), first_token_(site.first_token) {}

  DropoutSite site() const { return {dropout_, site_, first_token_}; }

 private:
  Dropout dropout_;
  std::uint32_t site_;
  std::int64_t first_token_;
};

}  // namespace che
