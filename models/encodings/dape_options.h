#pragma once

#include <cstdint>
#include <string>

#include "core/fields.h"

namespace che {

// Settings of the DAPE wrapper (arXiv 2405.14722).
struct DapeOptions {
  std::int64_t hidden = 64;                 // D, hidden units of f
  std::string variant = "concat_residual";  // Which formula, see dape.h.

  void visit_fields(FieldVisitor& visit);
};

}  // namespace che
