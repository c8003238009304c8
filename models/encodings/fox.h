// The forgetting transformer's bias (FoX, arXiv 2503.02130): gates that read a layer's input x, and a bias
// that sums their logarithms over the tokens strictly after the earlier of query and key up to the later one,
//
//   b_ij = sum over l = j+1 .. i of log sigmoid(w_h x_l + b_h)      for keys j on the left,
//   b_ij = sum over l = i+1 .. j of log sigmoid(w'_h x_l + b'_h)    for keys j on the right.
//
// A decoder has the first line, the paper's. Both are those of the released program x-transformers,
// DataDependentAlibi(causal=False). Its gates start open, from b = 5.
//
// start: cable is the bias of CABLE (arXiv 2503.08067), -softplus(u x + c) = log sigmoid(-u x - c), from its
// own start: normal weights of sigma 0.02, c = 0. Its program is a decoder; in an encoder the second set of
// gates is ours.
#pragma once

#include "models/settings/encoding_entry.h"

namespace che {

enum class FoxStart : std::uint8_t { kFox, kCable };

struct FoxOptions {
  FoxStart start = FoxStart::kFox;

  void visit_fields(FieldVisitor& visit) {
    visit.choice(
        {"start", "gates as FoX's, nearly open, or as CABLE's, half open, whose form in an encoder is ours"},
        start, {"fox", "cable"});
  }
};

inline const Registered<EncodingEntry> fox_entry{{
    .name = "fox",
    .summary = "sums of gates that read the input, between query and key",
    .formula = "b_ij = sum of log sigmoid(w_h x_l + b_h) between i and j, gates for each side",
    .source = "Lin et al., arXiv 2503.02130",
    .reads_positions = false,
    .gives_bias = true,
    .place = 13,
    .options = FoxOptions(),
    .right_side_is_ours =
        [](const AnyOptions& options) { return options.as<FoxOptions>().start == FoxStart::kCable; },
}};

}  // namespace che
