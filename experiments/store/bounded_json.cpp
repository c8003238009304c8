#include "experiments/store/bounded_json.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/config/node.h"
#include "core/error.h"
#include "core/text.h"

namespace che {

nlohmann::ordered_json parse_bounded_json(std::string_view text, std::size_t max_depth) {
  using Json = nlohmann::ordered_json;
  bool too_deep = false;
  // The parser calls this at every value, with the number of arrays and objects around it; what it refuses is
  // not stored.
  const Json::parser_callback_t keep = [&](int depth, Json::parse_event_t event, Json&) {
    const bool begins =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    too_deep = too_deep || (begins && std::cmp_greater_equal(depth, max_depth));
    return !too_deep;
  };
  Json json;
  std::string problem;
  try {
    json = Json::parse(text, keep);
  } catch (const Json::exception& error) {
    // After the library's name of the error.
    const std::string what = error.what();
    problem = fmt::format("not JSON ({})", one_line(what.substr(what.find("] ") + 2), kMaxProblem));
  }
  if (too_deep) problem = fmt::format("nested more than {} deep", max_depth);
  if (!problem.empty()) throw Error(problem);
  return json;
}

}  // namespace che
