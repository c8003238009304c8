#include "experiments/exchange/npz_writer.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace che {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

}  // namespace

void NpzWriter::add(std::string_view name, std::string_view dtype, std::string_view shape,
                    std::string_view bytes) {
  // An array's own header: magic, version 1.0, its size, and a Python dictionary that blanks pad to a
  // multiple of 64.
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", dtype, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string content("\x93NUMPY\x01\x00", 8);
  content += static_cast<char>(header.size() & 0xFF);
  content += static_cast<char>(header.size() >> 8);
  content += header;
  content += bytes;
  zip_.add(fmt::format("{}.npy", name), content);
  write_(zip_.take());
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

void NpzWriter::finish() { write_(zip_.finish()); }

}  // namespace che
