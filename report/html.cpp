#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace che {
namespace {

std::string_view entity_of(char c) {
  static const std::map<char, std::string_view> entities = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  const auto entity = entities.find(c);
  return entity == entities.end() ? std::string_view() : entity->second;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string result;
  // Lines stay lines: a config is shown as it is.
  for (bool is_first = true; !text.empty() || is_first; is_first = false) {
    const std::size_t end = text.find('\n');
    for (const char c : one_line(text.substr(0, end), kWholeText)) {
      const std::string_view entity = entity_of(c);
      entity.empty() ? result += c : result += entity;
    }
    if (end == std::string_view::npos) break;
    result += '\n';
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string url_path(std::string_view path) {
  std::string url;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool stays =
        c == '/' || c == '.' || c == '-' || c == '_' || (byte < 0x80 && std::isalnum(byte) != 0);
    url += stays ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return url;
}

namespace {

namespace mustache = kainjow::mustache;

// Every key is always set: the template would look for an absent one in the cell's row and table.
mustache::data cell_view(const PrintedCell& cell, bool is_number) {
  mustache::data view;
  view["is_number"] = is_number;
  view["text"] = cell.text;
  view["is_plain"] = cell.mark == Mark::kNone;
  view["is_best"] = cell.mark == Mark::kBest;
  view["is_second"] = cell.mark == Mark::kSecond;
  view["sign"] = cell.sign;
  view["has_value"] = cell.value.has_value();
  view["value"] = cell.value ? fmt::format("{}", *cell.value) : "";
  view["has_link"] = !cell.link.empty();
  view["link"] = cell.link;
  view["has_footnote"] = cell.footnote != 0;
  view["footnote"] = fmt::format("{}", cell.footnote);
  view["has_suffix"] = !cell.suffix.empty();
  view["suffix"] = cell.suffix;
  return view;
}

mustache::data column_view(const PrintedColumn& column) {
  mustache::data view;
  // A narrow column breaks its title behind underscores.
  mustache::list parts;
  for (std::size_t at = 0; at < column.title.size();) {
    const std::size_t end = std::min(column.title.find('_', at), column.title.size() - 1) + 1;
    mustache::data& part = parts.emplace_back();
    part["part"] = column.title.substr(at, end - at);
    part["breaks"] = end < column.title.size();
    at = end;
  }
  view["title"] = mustache::data(parts);
  view["has_settings"] = !column.settings.empty();
  view["settings"] = column.settings;
  view["is_number"] = column.number;
  return view;
}

}  // namespace

mustache::data table_view(const PrintedTable& table, const std::string& id) {
  const bool has_groups = !table.group_title.empty();
  mustache::list columns;
  if (has_groups) columns.push_back(column_view({.title = table.group_title, .number = false}));
  for (const PrintedColumn& column : table.columns) columns.push_back(column_view(column));

  mustache::list rows;
  const std::string* group = nullptr;
  for (const PrintedRow& row : table.rows) {
    mustache::list cells;
    // Sorted rows leave their group, so each names it.
    if (has_groups) cells.push_back(cell_view({.text = row.group}, false));
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      cells.push_back(cell_view(row.cells[i], table.columns[i].number));
    }
    mustache::data view;
    view["begins_group"] = has_groups && group != nullptr && *group != row.group;
    view["cells"] = mustache::data(cells);
    rows.push_back(std::move(view));
    group = &row.group;
  }

  mustache::list footnotes;
  for (std::size_t i = 0; i < table.footnotes.size(); ++i) {
    mustache::data view;
    view["number"] = fmt::format("{}", i + 1);
    view["text"] = table.footnotes[i];
    footnotes.push_back(std::move(view));
  }
  mustache::list notes;
  const auto add_note = [&notes](const std::string& text) { notes.push_back(mustache::data("text", text)); };
  if (table.marked()) add_note("Bold: the best of a row; underlined: the second.");
  for (const Note& note : table.notes) add_note(note.text);

  mustache::data view;
  view["id"] = id;
  // A few rows are read at once.
  constexpr std::size_t kMinFiltered = 6;
  view["has_filter"] = rows.size() >= kMinFiltered;
  view["columns"] = mustache::data(columns);
  view["rows"] = mustache::data(rows);
  view["has_footnotes"] = !footnotes.empty();
  view["footnotes"] = mustache::data(footnotes);
  view["has_notes"] = !notes.empty();
  view["notes"] = mustache::data(notes);
  return view;
}

std::string render(const std::string& html_template, const mustache::data& view) {
  mustache::mustache page(html_template);
  page.set_custom_escape([](const std::string& text) { return html_text(text); });
  std::ostringstream stream;
  page.render(view, stream);
  if (!page.is_valid()) {
    throw Error(fmt::format("the report's template: {}", page.error_message()), ErrorKind::kRuntime);
  }
  return stream.str();
}

}  // namespace che
