#include "experiments/analysis/encoding_names.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(EncodingNames, SuggestTheFormWithSettings) {
  EncodingLabel dape;
  dape.form = {.name = "kerple", .dape = true};
  EncodingLabel symmetric;
  symmetric.form.name = "kerple";
  symmetric.settings = {{"encoding.direction", "symmetric"}};
  EXPECT_EQ(known_encodings_hint("kerple", {dape, symmetric}),
            "; did you mean 'kerple(direction=symmetric)'?; known: dape_kerple, kerple(direction=symmetric)");
  EXPECT_EQ(known_encodings_hint("dape_kerpel", {dape}), "; did you mean 'dape_kerple'?; known: dape_kerple");
  EXPECT_EQ(known_encodings_hint("quantum", {dape}), "; known: dape_kerple");
}

}  // namespace
}  // namespace che
