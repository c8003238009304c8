#include "experiments/run_status.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/checksum.h"
#include "core/config_tree.h"
#include "core/error.h"

namespace che {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kChecksum = "checksum";
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
  each("started", status.started);
  each("updated", status.updated);
}

void assign(const Json& value, std::string& member) {
  if (!value.is_string()) throw Error("a string");
  member = value.get<std::string>();
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
std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string to_json(const RunStatus& status, std::string_view id) {
  Json json;
  for_each_member(status, [&](const char* key, const auto& member) { json[key] = member; });
  json[kChecksum] = checksum(id, dump(json));
  return dump(json);
}

RunStatus parse_status(std::string_view text, std::string_view id, const std::string& file) {
  const auto fail = [&](const std::string& problem) {
    throw Error(fmt::format("{}: {}; the file is damaged: `che run` goes on from the run's checkpoint", file,
                            problem));
  };
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    // After the library's name of the error.
    const std::string what = error.what();
    fail(fmt::format("not JSON ({})", one_line(what.substr(what.find("] ") + 2), kLongestProblem)));
  }
  if (!json.is_object()) fail("found " + std::string(json.type_name()) + ", expected an object");
  RunStatus status;
  for_each_member(status, [&](const char* key, auto& member) {
    if (!json.contains(key)) fail(fmt::format("'{}' is missing", key));
    try {
      assign(json[key], member);
    } catch (const Error& expected) {
      fail(fmt::format("{}: found {}, expected {}", key,
                       one_line(json[key].dump(-1, ' ', false, Json::error_handler_t::replace)),
                       expected.what()));
    }
  });
  if (std::find(kStates.begin(), kStates.end(), status.state) == kStates.end()) {
    fail(fmt::format("state: unknown state '{}'", status.state));
  }
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
