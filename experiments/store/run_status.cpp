#include "experiments/store/run_status.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/bounded_json.h"
#include "core/config/node.h"
#include "core/error.h"
#include "core/hashes.h"
#include "experiments/store/run_files.h"

namespace che {
namespace {

using Json = nlohmann::json;

constexpr const char* kChecksum = "checksum";
constexpr const char* kProcessor = "processor";
constexpr const char* kEarlier = "earlier";
constexpr const char* kContinuedFrom = "continued_from";
constexpr const char* kStatedTraining = "stated_training";
// Left out where they are empty: files of earlier versions have no such member.
constexpr std::array<std::string_view, 4> kOptional = {kProcessor, kEarlier, kContinuedFrom, kStatedTraining};
constexpr JsonLimits kStatusLimits{.depth = 8, .bytes = std::size_t{1} << 20, .values = 1000};
// In the order of RunState.
constexpr std::array<const char*, 6> kStates = {"waiting",  "training",    "evaluating",
                                                "finished", "interrupted", "failed"};

// Applies `each(key, member)` to everything that is stored of a status, in its order.
template <class Status, class Each>
void for_each_member(Status& status, Each each) {
  each("state", status.state);
  each("step", status.step);
  each("training_seconds", status.training_seconds);
  each("evaluation_seconds", status.evaluation_seconds);
  each("error", status.error);
  each("git_commit", status.git_commit);
  each("version", status.version);
  each("torch_version", status.torch_version);
  each("device", status.device);
  each("host", status.host);
  each(kProcessor, status.processor);
  each(kEarlier, status.earlier);
  each(kContinuedFrom, status.continued_from);
  each(kStatedTraining, status.stated_training);
  each("started", status.started);
  each("updated", status.updated);
}

void assign(const Json& value, std::string& member) {
  if (!value.is_string()) throw Error("a string");
  member = value.get<std::string>();
}

void assign(const Json& value, std::vector<std::string>& member) {
  if (!value.is_array() || !std::ranges::all_of(value, &Json::is_string)) throw Error("a list of strings");
  member = value.get<std::vector<std::string>>();
}

void assign(const Json& value, RunState& member) {
  const auto name = value.is_string() ? value.get<std::string>() : std::string();
  const auto* const found = std::find(kStates.begin(), kStates.end(), name);
  if (found == kStates.end()) throw Error(fmt::format("one of {}", fmt::join(kStates, ", ")));
  member = static_cast<RunState>(found - kStates.begin());
}

void assign(const Json& value, std::int64_t& member) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0) throw Error("a whole number >= 0");
  member = value.get<std::int64_t>();
}

void assign(const Json& value, double& member) {
  if (!value.is_number()) throw Error("a number");
  member = value.get<double>();
}

// An error message may carry bytes that are not UTF-8.
std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// A value for a message; never a whole array or object.
std::string shown(const Json& value) {
  if (value.is_structured()) return fmt::format("an {}", value.type_name());
  return one_line(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string state_name(RunState state) { return kStates[static_cast<std::size_t>(state)]; }

std::string hardware_of(const RunStatus& status) {
  if (status.device.starts_with("cuda")) return one_line(status.device, kWholeText);
  return status.processor.empty() ? "an unknown processor" : one_line(status.processor, kWholeText);
}

std::string computed_by(const RunStatus& status) {
  constexpr std::string_view kCpu = "cpu";
  const std::string settings = status.device.starts_with(kCpu) ? status.device.substr(kCpu.size()) : "";
  return fmt::format("che {}, commit {}, on {}{}", status.version, status.git_commit, hardware_of(status),
                     settings);
}

void add_earlier(RunStatus& status, const RunStatus& before) {
  const auto add = [&](const std::string& text) {
    const bool is_there = fmt::format("; {}; ", status.earlier).find("; " + text + "; ") != std::string::npos;
    if (text.empty() || is_there || text == computed_by(status)) return;
    status.earlier += (status.earlier.empty() ? "" : "; ") + text;
  };
  for (std::size_t start = 0, end = 0; end != std::string::npos; start = end + 2) {
    end = before.earlier.find("; ", start);
    add(before.earlier.substr(start, end - start));
  }
  if (!before.git_commit.empty()) add(computed_by(before));
}

std::string to_json(const RunStatus& status, std::string_view id) {
  nlohmann::ordered_json json;
  for_each_member(status, [&](const char* key, const auto& member) {
    if constexpr (std::is_same_v<decltype(member), const RunState&>) {
      json[key] = state_name(member);
    } else {
      json[key] = member;
    }
  });
  for (const std::string_view key : kOptional) {
    const auto member = json.find(key);
    if (member->empty() || *member == "") json.erase(member);
  }
  json[kChecksum] = checksum(id, dump(json));
  return dump(json);
}

RunStatus parse_status(std::string_view text, std::string_view id, const std::string& file) {
  const auto fail = [&](const std::string& problem) {
    throw Error(fmt::format("{}: {}; the file is damaged: {}", file, problem, kStatusRemedy));
  };
  Json json;
  try {
    json = parse_bounded_json(text, kStatusLimits);
  } catch (const Error& error) {
    fail(error.what());
  }
  if (!json.is_object()) fail("found " + std::string(json.type_name()) + ", expected an object");
  RunStatus status;
  for_each_member(status, [&](const char* key, auto& member) {
    if (!json.contains(key) && std::ranges::count(kOptional, key) > 0) return;
    if (!json.contains(key)) fail(fmt::format("'{}' is missing", key));
    try {
      assign(json[key], member);
    } catch (const Error& expected) {
      fail(fmt::format("{}: found {}, expected {}", key, shown(json[key]), expected.what()));
    }
  });

  if (to_json(status, id) != text) fail("its checksum does not fit its content");
  return status;
}

std::string current_utc_time() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::optional<double> utc_seconds(const std::string& time) {
  std::tm parts{};
  std::istringstream stream(time);
  stream >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%SZ");
  if (stream.fail()) return std::nullopt;
  return static_cast<double>(timegm(&parts));
}

}  // namespace che
