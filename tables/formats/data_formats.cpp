#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/number_text.h"
#include "core/text.h"
#include "experiments/store/csv.h"
#include "tables/formats/formats.h"

namespace che {
namespace {

using Json = nlohmann::ordered_json;

// Text that a spreadsheet takes for text: one that begins as a formula does is preceded by an apostrophe.
std::string spreadsheet_text(const std::string& text) {
  const std::string line = one_line(text, kWholeText);
  const bool is_formula = !line.empty() && std::string_view("=+-@").find(line[0]) != std::string_view::npos;
  return is_formula && !parse_real(line) ? "'" + line : line;
}

struct ToCsv {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const std::string& text) const { return csv_field(spreadsheet_text(text)); }
  std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
  std::string operator()(double number) const { return fmt::format("{}", number); }
};

struct ToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(std::int64_t number) const { return number; }
  // JSON has no word for infinity and NaN.
  Json operator()(double number) const { return std::isfinite(number) ? Json(number) : Json(nullptr); }
};

}  // namespace

std::string csv_table(const DataTable& data) {
  std::string text = fmt::format("{}\n", fmt::join(data.columns, ","));
  for (const auto& row : data.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      text += std::visit(ToCsv{}, row[i]);
    }
    text += '\n';
  }
  return text;
}

std::string json_table(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.data.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[table.data.columns[i]] = std::visit(ToJson{}, row[i]);
    rows.push_back(std::move(object));
  }
  Json notes = table.printed.footnotes;
  for (const Note& note : table.data.notes) notes.push_back(note.text);
  const Json json = {{"title", table.title}, {"notes", std::move(notes)}, {"rows", std::move(rows)}};
  // Stored messages may hold bytes that are no UTF-8.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace che
