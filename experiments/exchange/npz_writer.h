#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "experiments/exchange/archive.h"

namespace che {

// A file of numpy's format npz, which numpy.load reads: a zip archive of uncompressed arrays (NEP 1). Written
// from the front, array by array; equal arrays give equal bytes.
class NpzWriter {
 public:
  using Write = std::function<void(std::string_view)>;
  explicit NpzWriter(Write write) : write_(std::move(write)) {}

  // A matrix of dtype uint8, row after row.
  void add_matrix(std::string_view name, std::int64_t rows, std::int64_t columns,
                  std::span<const std::uint8_t> values);
  // Numbers of dtype int64.
  void add_numbers(std::string_view name, std::span<const std::int64_t> values);
  // One text of ASCII, of dtype S: `bytes(file[name])` gives it.
  void add_text(std::string_view name, std::string_view text);
  void finish();

 private:
  void add(std::string_view name, std::string_view dtype, std::string_view shape, std::string_view bytes);

  Write write_;
  Packer zip_{Packer::Format::kZip};
};

}  // namespace che
