#include "experiments/exchange/npz_writer.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "core/error.h"

namespace che {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

// An unsigned number of so many bytes, little-endian.
template <std::size_t kBytes>
std::string number(std::uint64_t value) {
  std::string bytes(kBytes, '\0');
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

// The CRC-32 of zip archives (polynomial 0xEDB88320).
std::uint32_t crc32(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
      values[i] = value;
    }
    return values;
  }();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxArrays = std::numeric_limits<std::uint16_t>::max();

}  // namespace

void NpzWriter::add(std::string_view name, std::string_view dtype, std::string_view shape,
                    std::string_view bytes) {
  // An array's own header: magic, version 1.0, and a Python dictionary that blanks pad to a multiple of 64.
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", dtype, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string content = "\x93NUMPY" + number<2>(1) + number<2>(header.size()) + header;
  content += bytes;
  const std::string file = fmt::format("{}.npy", name);
  // Version 2.0, no flags, stored, 1 January 1980, CRC, size twice, length of the name, nothing extra.
  const std::string common = number<2>(20) + number<2>(0) + number<2>(0) + number<2>(0) + number<2>(0x21) +
                             number<4>(crc32(content)) + number<4>(content.size()) +
                             number<4>(content.size()) + number<2>(file.size()) + number<2>(0);
  directory_ += "PK\x01\x02" + number<2>(20) + common + number<2>(0) + number<2>(0) + number<2>(0) +
                number<4>(0) + number<4>(written_) + file;
  const std::string local = "PK\x03\x04" + common + file;
  written_ += local.size() + content.size();
  if (++arrays_ > kMaxArrays || written_ + directory_.size() > kMaxBytes) {
    throw Error(
        fmt::format("npz: more than {} arrays or {} bytes; ask for fewer lengths or samples, or for "
                    "--format jsonl",
                    kMaxArrays, kMaxBytes));
  }
  write_(local);
  write_(content);
}

void NpzWriter::add_matrix(std::string_view name, std::int64_t rows, std::int64_t columns,
                           std::span<const std::uint8_t> values) {
  std::string bytes(values.size(), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), values.size());
  add(name, "|u1", fmt::format("({}, {})", rows, columns), bytes);
}

void NpzWriter::add_numbers(std::string_view name, std::span<const std::int64_t> values) {
  std::string bytes(values.size_bytes(), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), values.size_bytes());
  add(name, "<i8", fmt::format("({},)", values.size()), bytes);
}

void NpzWriter::add_text(std::string_view name, std::string_view text) {
  add(name, fmt::format("|S{}", text.size()), "()", text);
}

void NpzWriter::finish() {
  write_(directory_);
  write_("PK\x05\x06" + number<2>(0) + number<2>(0) + number<2>(arrays_) + number<2>(arrays_) +
         number<4>(directory_.size()) + number<4>(written_) + number<2>(0));
}

}  // namespace che
