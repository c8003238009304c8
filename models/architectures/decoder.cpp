#include "models/architectures/decoder.h"

#include "models/architectures/encoder_model.h"

namespace che {
namespace {

const Registered<Architecture> decoder_architecture{
    {.name = "decoder", .parameters = encoder_parameters, .make = make_encoder}};

}  // namespace
}  // namespace che
