#pragma once

#include <cstdint>
#include <string>

#include "core/config/fields.h"

namespace che {

// The formula of DAPE around an encoding without a bias, see dape.h.
inline constexpr const char* kAttentionOnly = "attention_only";

// Settings of the DAPE wrapper (arXiv 2405.14722, and 2410.04798 for kernel 1x3).
struct DapeOptions {
  std::int64_t hidden = 64;                 // D, hidden units of f
  std::string variant = "concat_residual";  // Which formula, see dape.h.
  std::string kernel = "1x1";               // f over one key or three; 1x3 is DAPE V2.

  // Whether B itself is added, too.
  bool adds_bias() const { return variant.ends_with("_residual"); }

  // Keys that a layer of f sees at once.
  std::int64_t taps() const { return kernel == "1x3" ? 3 : 1; }

  void visit_fields(FieldVisitor& visit);
};

}  // namespace che
