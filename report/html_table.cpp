#include "report/html_table.h"

#include <fmt/format.h>

#include <cctype>

namespace che {
namespace {

std::string cell_html(const PrintedCell& cell, bool number, const std::string& id) {
  std::string text = html_text(cell.text);
  if (cell.mark == Mark::kBest) text = "<b>" + text + "</b>";
  if (cell.mark == Mark::kSecond) text = "<u>" + text + "</u>";
  if (!cell.link.empty()) text = fmt::format(R"(<a href="{}">{}</a>)", html_text(cell.link), text);
  if (cell.footnote != 0) {
    text += fmt::format(R"(<sup><a href="#{0}-note-{1}">{1}</a></sup>)", id, cell.footnote);
  }
  if (!cell.beside.empty()) text += fmt::format("<small>{}</small>", html_text(cell.beside));
  const std::string value = cell.value ? fmt::format(" data-value=\"{}\"", *cell.value) : "";
  return fmt::format("<td{}{}>{}</td>", number ? " class=\"number\"" : "", value, text);
}

// A long title may break before its settings.
std::string title_html(const std::string& title, bool number) {
  std::string text = html_text(title);
  if (const std::size_t settings = text.find('('); settings != std::string::npos)
    text.insert(settings, "<wbr>");
  return fmt::format(R"(<th{} scope="col"><button type="button">{}</button></th>)",
                     number ? " class=\"number\"" : "", text);
}

}  // namespace

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

std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        // HTML has no control characters but white space.
        result += (c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == 0x7f ? '?' : c;
    }
  }
  return result;
}

std::string html_table(const PrintedTable& table, const std::string& id) {
  const bool groups = !table.group_title.empty();
  std::string html = fmt::format("<div class=\"wide\"><table id=\"{}\" class=\"sortable\">\n<thead><tr>", id);
  if (groups) html += title_html(table.group_title, false);
  for (const PrintedColumn& column : table.columns) html += title_html(column.title, column.number);
  html += "</tr></thead>\n<tbody>\n";
  const std::string* group = nullptr;
  for (const PrintedRow& row : table.rows) {
    const bool begins = groups && group != nullptr && *group != row.group;
    group = &row.group;
    html += begins ? "<tr class=\"begins\">" : "<tr>";
    // Sorted rows leave their group, so each names it.
    if (groups) html += fmt::format("<td>{}</td>", html_text(row.group));
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      html += cell_html(row.cells[i], table.columns[i].number, id);
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (!table.footnotes.empty()) {
    html += "<ol class=\"notes\">\n";
    for (std::size_t i = 0; i < table.footnotes.size(); ++i) {
      html += fmt::format("<li id=\"{}-note-{}\">{}</li>\n", id, i + 1, html_text(table.footnotes[i]));
    }
    html += "</ol>\n";
  }
  if (table.marked() || !table.notes.empty()) {
    html += "<ul class=\"notes\">\n";
    if (table.marked()) html += "<li>Bold: the best of a row; underlined: the second.</li>\n";
    for (const std::string& note : table.notes) html += fmt::format("<li>{}</li>\n", html_text(note));
    html += "</ul>\n";
  }
  return html;
}

}  // namespace che
