// Encodings after the paper against numbers made with the programs that released them
// (tests/reference/encodings_2026.json).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "models/encodings/encoding.h"
#include "models/parameters/parameter_set.h"
#include "tests/models/reference_files.h"

namespace che {
namespace {

using nlohmann::json;

constexpr double kReleasedTolerance = 1e-5;
const at::TensorOptions kReleasedType = at::TensorOptions().dtype(at::kDouble);
const Backend kReleasedBackend{Kernels::kReference, kReleasedType};

json cases_of(const char* section) {
  return read_reference(reference_dir() / "encodings_2026.json").at(section);
}

// An encoding with its parameters set to the numbers of a case, by the case's names.
class ReferenceEncoding {
 public:
  ReferenceEncoding(const std::string& name, const OptionValues& options, const ModelShape& shape)
      : shape_(shape),
        encoding_(create_encoding(name, Registry<EncodingEntry>::instance().get(name).options.with(options))),
        parameters_(encoding_->layer_parameters(shape), 1, kReleasedType) {}

  void set(const std::string& name, const json& value) {
    parameters_[name].data().copy_(reference_input(value).unsqueeze(0));
  }
  const at::Tensor& parameter(const std::string& name) { return parameters_[name]; }
  const Encoding& operator*() const { return *encoding_; }

  EncodingContext context(const Positions& positions, std::int64_t tokens) const {
    return {shape_, 0, tokens, 0, positions, {parameters_, ""}, {parameters_, ""}, kReleasedBackend, tables_};
  }

 private:
  ModelShape shape_;
  std::unique_ptr<Encoding> encoding_;
  ParameterSet parameters_;
  mutable TableCache tables_;
};

TEST(Encodings2026Reference, PositionMlp) {
  for (const json& one : cases_of("position_mlp")) {
    const std::int64_t heads = one.at("heads");
    const std::int64_t tokens = one.at("tokens");
    ReferenceEncoding encoding("position_mlp", {{"hidden", one.at("hidden").dump()}},
                               {.width = heads, .layers = 1, .heads = heads});
    for (const std::string name : {"w1", "b1", "w2", "b2", "w3", "b3"})
      encoding.set("mlp." + name, one.at(name));
    const Positions positions;
    const PairValues bias = additive_bias((*encoding).attention_terms(encoding.context(positions, tokens)));
    EXPECT_EQ("", difference(bias.dense(tokens, tokens).squeeze(0), reference_tensor(one.at("bias")),
                             kReleasedTolerance));
  }
}

}  // namespace
}  // namespace che
