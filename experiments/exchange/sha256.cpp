#include "experiments/exchange/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <iterator>

#include "core/error.h"

namespace che {
namespace {

void check(int result) {
  if (result != 1) throw Error("the library of cryptography gives no SHA-256", ErrorKind::kRuntime);
}

}  // namespace

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  check(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view part) {
  check(EVP_DigestUpdate(state_->context.get(), part.data(), part.size()));
}

std::string Sha256::digits() {
  std::array<unsigned char, 32> bytes{};
  check(EVP_DigestFinal_ex(state_->context.get(), bytes.data(), nullptr));
  std::string text;
  for (const unsigned char byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.digits();
}

}  // namespace che
