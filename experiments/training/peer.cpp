#include "experiments/training/peer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "core/process.h"
#include "core/text.h"
#include "models/device_memory.h"

namespace che {

extern const char* const kPeerScript;

namespace {

constexpr const char* kPython = "python3";
constexpr const char* kVersionScript =
    "import torch; print(torch.__version__ if torch.cuda.is_available() else '')";

constexpr std::size_t kLongest = 200;  // Characters of a problem.

// The last line that is not empty: where Python says what went wrong.
std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::size_t end = text.rfind('\n');
  return one_line(end == std::string_view::npos ? text : text.substr(end + 1), kLongest);
}

// Runs Python; throws Error with what it said where it fails.
std::string python(std::vector<std::string> words) {
  words.insert(words.begin(), {kPython, "-c"});
  const ProgramOutput ended = run_program(words);
  if (ended.exit_code != 0) {
    throw Error(fmt::format("exit code {}: {}", ended.exit_code, last_line(ended.messages)),
                ErrorKind::kRuntime);
  }
  return ended.output;
}

// Milliseconds of a step, with sampling, from the script's report.
double milliseconds_in(const std::string& report) {
  const auto json = nlohmann::json::parse(report);
  const auto median = [&](const char* part) { return json.at(part).at("median").get<double>(); };
  return 1e3 * (median("step_seconds") + median("data_seconds_per_step"));
}

}  // namespace

PeerTimes time_peer(const Backend& device, const SelftestPlan& plan, const TimeSink& sink) {
  PeerTimes peer;
  try {
    peer.torch = python({kVersionScript});
  } catch (const Error& error) {
    peer.problem = fmt::format("{} cannot import PyTorch: {}", kPython, error.what());
    return peer;
  }
  while (peer.torch.ends_with('\n')) peer.torch.pop_back();
  if (peer.torch.empty()) {
    peer.problem = fmt::format("the PyTorch of {} finds no GPU", kPython);
    return peer;
  }
  give_back_device_memory(device.device());
  const RunConfig config;
  for (const char* encoding : {"alibi", "dape_kerple"}) {
    for (const std::int64_t tokens : plan.timed_tokens) {
      SelftestTime time{.name = fmt::format("training step in PyTorch, {}, {} tokens", encoding, tokens),
                        .problem = {}};
      try {
        time.milliseconds = milliseconds_in(python({kPeerScript,
                                                    "--task",
                                                    "parity_check",
                                                    "--encoding",
                                                    encoding,
                                                    "--d-model",
                                                    std::to_string(config.model.width),
                                                    "--layers",
                                                    std::to_string(config.model.layers),
                                                    "--heads",
                                                    std::to_string(config.model.heads),
                                                    "--fixed-length",
                                                    std::to_string(tokens - 1),
                                                    "--batch",
                                                    std::to_string(plan.timed_batch),
                                                    "--warmup",
                                                    std::to_string(plan.steps.warm_up),
                                                    "--steps",
                                                    std::to_string(plan.steps.warm_up + plan.steps.steps),
                                                    "--device",
                                                    fmt::format("cuda:{}", device.device().index())}));
      } catch (const std::exception& error) {
        time.problem = one_line(error.what(), kLongest);
      }
      sink(time);
      peer.times.push_back(std::move(time));
    }
  }
  return peer;
}

}  // namespace che
