// status.json: whatever its content, it is read or refused in one line; and whatever a status holds, it is
// stored so that it is read back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.h"
#include "experiments/store/run_status.h"

namespace che {
namespace {

constexpr std::string_view kRun = "even_pairs-rope-lr0.001-seed0-0123456789ab";

void read(std::string_view text) {
  try {
    if (to_json(parse_status(text, kRun, "status.json"), kRun) != text) std::abort();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (message.find('\n') != std::string_view::npos || message.size() > 1000) std::abort();
  }
}

void store(std::string_view text, std::uint8_t state) {
  RunStatus status;
  status.state = static_cast<RunState>(state % 6);
  status.step = static_cast<std::int64_t>(text.size()) << state % 50;
  status.training_seconds = 1.0 / (1 + static_cast<double>(text.size()));
  status.error = text;
  status.host = text.substr(0, text.size() / 2);
  const std::string json = to_json(status, kRun);
  if (to_json(parse_status(json, kRun, "status.json"), kRun) != json) std::abort();
}

}  // namespace
}  // namespace che

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  che::read(text);
  che::store(text, size == 0 ? 0 : data[0]);
  return 0;
}
