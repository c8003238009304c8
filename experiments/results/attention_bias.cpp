#include "experiments/results/attention_bias.h"

#include <fmt/format.h>

#include <iterator>

namespace che {

std::string attention_bias_csv(const AttentionBias& bias) {
  std::string text = fmt::format("layer,head,query,key,logit,bias,adapted{}\n", bias.has_f ? ",f" : "");
  for (std::int64_t layer = 0; layer < bias.layers; ++layer) {
    for (std::int64_t head = 0; head < bias.heads; ++head) {
      for (std::int64_t query = 0; query < bias.tokens; ++query) {
        for (std::int64_t key = 0; key < bias.tokens; ++key) {
          // Adding 0 takes the sign off zeros.
          const std::size_t i = bias.index(layer, head, query, key);
          fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}", layer, head, query, key,
                         bias.logit[i] + 0.0F, bias.bias[i] + 0.0F, bias.adapted[i] + 0.0F);
          if (bias.has_f) fmt::format_to(std::back_inserter(text), ",{}", bias.f(i) + 0.0F);
          text += '\n';
        }
      }
    }
  }
  return text;
}

}  // namespace che
