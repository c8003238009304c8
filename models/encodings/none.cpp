#include "models/encodings/none.h"

#include "models/encodings/encoding.h"

namespace che {
namespace {

const Registered<EncodingMaker> none_maker{{"none", make_encoding<Encoding>}};

}  // namespace
}  // namespace che
