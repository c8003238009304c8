// PoPE, polar positions (arXiv 2509.10534): every feature of a query or key is a length, and positions are
// angles alone. The logit is
//
//   sum over c of softplus(q_c) softplus(k_c) cos((p_j - p_i) w_c + delta_hc) / sqrt(d_head),
//   w_c = 10000^(-c/d), c = 0 .. d - 1, d = d_head,
//
// with a learned delta of each head and feature, clamped to -2 pi .. 0 where it is read, in every layer.
// Inside attention queries and keys have two numbers a feature, 2 d a head.
#pragma once

#include "models/settings/encoding_entry.h"

namespace che {

enum class PopeStart : std::uint8_t { kZero, kUniform };

struct PopeOptions {
  PopeStart start = PopeStart::kZero;

  void visit_fields(FieldVisitor& visit) {
    visit.choice({"start", "delta's first values: zero, or uniform in -2 pi .. 0"}, start,
                 {"zero", "uniform"});
  }
};

inline const Registered<EncodingEntry> pope_entry{{
    .name = "pope",
    .summary = "lengths from content and angles from positions",
    .formula = "sum_c softplus(q_c) softplus(k_c) cos((p_j - p_i) 10000^(-c/d) + delta_hc)",
    .source = "Gopalakrishnan et al., arXiv 2509.10534",
    .place = 12,
    .options = PopeOptions(),
}};

}  // namespace che
