#include "experiments/exchange/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <iterator>

#include "core/error.h"

namespace che {

std::string sha256_bytes(std::string_view text) {
  std::string bytes(32, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(bytes.data());
  if (EVP_Digest(text.data(), text.size(), out, nullptr, EVP_sha256(), nullptr) != 1) {
    throw Error("the library of cryptography gives no SHA-256", ErrorKind::kRuntime);
  }
  return bytes;
}

std::string sha256(std::string_view text) {
  std::string digits;
  for (const char byte : sha256_bytes(text)) {
    fmt::format_to(std::back_inserter(digits), "{:02x}", static_cast<unsigned char>(byte));
  }
  return digits;
}

}  // namespace che
