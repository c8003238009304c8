#include "core/hashes.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>

#include "core/error.h"
#include "core/files.h"

namespace che {
namespace {

constexpr std::int64_t kHashedAtOnce = std::int64_t{1} << 20;

// The SHA-256 of what `add_all` hands to its argument.
std::string sha256_bytes_of(
    const std::function<void(const std::function<void(std::string_view)>&)>& add_all) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  const auto check = [](int result) {
    if (result != 1) throw Error("the library of cryptography gives no SHA-256", ErrorKind::kRuntime);
  };
  check(EVP_DigestInit_ex(state.get(), EVP_sha256(), nullptr));
  add_all([&](std::string_view part) { check(EVP_DigestUpdate(state.get(), part.data(), part.size())); });
  std::string bytes(32, '\0');
  check(EVP_DigestFinal_ex(state.get(), reinterpret_cast<unsigned char*>(bytes.data()), nullptr));
  return bytes;
}

std::string digits_of(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) {
    fmt::format_to(std::back_inserter(digits), "{:02x}", static_cast<unsigned char>(byte));
  }
  return digits;
}

}  // namespace

std::string checksum(std::string_view key, std::string_view text) {
  return fmt::format("{:016x}",
                     XXH3_64bits_withSeed(text.data(), text.size(), XXH3_64bits(key.data(), key.size())));
}

std::string sha256_bytes(std::string_view text) {
  return sha256_bytes_of([&](const auto& add) { add(text); });
}

std::string sha256(std::string_view text) { return digits_of(sha256_bytes(text)); }

std::string sha256(const Descriptor& file, const std::filesystem::path& path, std::int64_t bytes) {
  return digits_of(sha256_bytes_of([&](const auto& add) {
    std::string part;
    for (std::int64_t first = 0; first < bytes; first += kHashedAtOnce) {
      part.resize(static_cast<std::size_t>(std::min(kHashedAtOnce, bytes - first)));
      read_at(file, path, first, part);
      add(part);
    }
  }));
}

}  // namespace che
