#include "experiments/progress.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace che {
std::string duration_text(double seconds) {
  constexpr std::int64_t kMinute = 60;
  const std::int64_t whole = std::llround(seconds);
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 100 * kMinute) return fmt::format("{} min", (whole + kMinute / 2) / kMinute);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string to_json_line(const Progress& progress) {
  return nlohmann::json{{"job", progress.job},
                        {"phase", progress.phase},
                        {"done", progress.done},
                        {"total", progress.total},
                        {"loss", progress.loss},
                        {"accuracy", progress.accuracy},
                        {"per_second", progress.per_second},
                        {"seconds_left", progress.seconds_left},
                        {"text", progress.text}}  // Names of folders need not be UTF-8.
             .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

std::optional<Progress> parse_progress(std::string_view line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("job") || !json.contains("phase")) return std::nullopt;
  Progress progress;
  try {
    progress.job = json.at("job").get<std::string>();
    progress.phase = json.at("phase").get<std::string>();
    progress.done = json.at("done").get<std::int64_t>();
    progress.total = json.at("total").get<std::int64_t>();
    progress.loss = json.at("loss").is_null() ? 0 : json.at("loss").get<double>();
    progress.accuracy = json.at("accuracy").is_null() ? 0 : json.at("accuracy").get<double>();
    progress.per_second = json.at("per_second").get<double>();
    progress.seconds_left = json.at("seconds_left").get<double>();
    progress.text = json.at("text").get<std::string>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return progress;
}

std::string describe(const Progress& progress) {
  if (progress.phase == "warning") return fmt::format("{}: warning: {}", progress.job, progress.text);
  const bool training = progress.phase == "training";
  return fmt::format("{}: {} {}/{}, loss {:.3f}, accuracy {:.1f} %, {:.2f} {}/s, {} left", progress.job,
                     training ? "step" : "length", progress.done, progress.total, progress.loss,
                     100 * progress.accuracy, progress.per_second, training ? "steps" : "lengths",
                     duration_text(progress.seconds_left));
}

}  // namespace che
