#include "experiments/exchange/model_file.h"

#include <bit>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

namespace che {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

std::string safetensors(const std::vector<ParameterSpec>& specs, std::span<const float> values,
                        const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header;
  header["__metadata__"] = metadata;
  std::int64_t offset = 0;  // Bytes.
  for (const ParameterSpec& spec : specs) {
    const std::int64_t count =
        std::accumulate(spec.shape.begin(), spec.shape.end(), std::int64_t{1}, std::multiplies<>());
    const std::int64_t end = offset + count * static_cast<std::int64_t>(sizeof(float));
    header[spec.name] = {{"dtype", "F32"}, {"shape", spec.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // So that the numbers are aligned.
  const auto size = static_cast<std::uint64_t>(text.size());
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += text;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return bytes;
}

}  // namespace che
