#pragma once

#include <string>
#include <vector>

#include "experiments/plan/encoding_config.h"

namespace che {

struct NamedEncoding {
  std::string name;  // The shorthand; of DAPE V2 (arXiv 2410.04798), which has none, "dape_v2_" and the base.
  EncodingConfig config;
};

// Every registered encoding, randomized where it reads positions, and DAPE and DAPE V2 around those with a
// bias: what checks of all encodings go through.
std::vector<NamedEncoding> every_encoding();

}  // namespace che
