#include "plots/gnuplot/figure_files.h"

#include <fmt/format.h>

#include <sstream>
#include <system_error>

#include "core/error.h"
#include "core/files.h"
#include "core/number_text.h"
#include "plots/gnuplot/gnuplot.h"

namespace che {
namespace {

namespace fs = std::filesystem;

// A reader's machine may lack the font; Verdana is as wide.
void name_other_fonts(std::string& svg) {
  constexpr std::string_view kFont = "font-family=\"DejaVu Sans\"";
  constexpr std::string_view kFonts = "font-family=\"DejaVu Sans, Verdana, sans-serif\"";
  for (std::size_t at = 0; (at = svg.find(kFont, at)) != std::string::npos; at += kFonts.size()) {
    svg.replace(at, kFont.size(), kFonts);
  }
}

// gnuplot's SVG draws points of a size nearly twice as large as its other terminals do.
void shrink_points(std::string& svg) {
  constexpr double kShare = 0.6;
  constexpr std::string_view kPoint = "<use xlink:href='#gpPt";
  constexpr std::string_view kScale = " scale(";
  for (std::size_t at = 0; (at = svg.find(kPoint, at)) != std::string::npos; ++at) {
    const std::size_t end = svg.find('>', at);
    const std::size_t scale = svg.find(kScale, at);
    if (scale == std::string::npos || scale > end) continue;
    const std::size_t number = scale + kScale.size();
    const std::size_t close = svg.find(')', number);
    if (const auto value = parse_real(svg.substr(number, close - number))) {
      svg.replace(number, close - number, fmt::format("{:.2f}", kShare * *value));
    }
  }
  // Their outlines stay as thick as they are.
  constexpr std::string_view kOutline = "stroke-width='0.178'";
  for (std::size_t at = 0; (at = svg.find(kOutline, at)) != std::string::npos;) {
    svg.replace(at, kOutline.size(), "stroke-width='0.297'");
  }
}

// The text of the quoted string that begins at `at`.
std::string quoted(std::string_view line, std::size_t at) {
  std::string text;
  for (++at; at < line.size(); ++at) {
    if (line[at] == '\'' && (at + 1 == line.size() || line[at + 1] != '\'')) break;
    at += line[at] == '\'' ? 1U : 0U;
    text += line[at];
  }
  return text;
}

// Of every element of the script's plot commands, in their order, its title; empty for one without.
std::vector<std::string> titles_of(const std::string& script) {
  std::vector<std::string> titles;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("plot ")) continue;
    titles.emplace_back();
    bool is_quoted = false;
    int depth = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!is_quoted && line.compare(i, 8, " title '") == 0) titles.back() = quoted(line, i + 7);
      if (line[i] == '\'') is_quoted = !is_quoted;
      if (is_quoted) continue;
      depth += line[i] == '(' ? 1 : line[i] == ')' ? -1 : 0;
      if (line[i] == ',' && depth == 0) titles.emplace_back();
    }
  }
  return titles;
}

std::string xml_text(const std::string& text) {
  std::string result;
  for (const char c : text) c == '&' ? result += "&amp;" : c == '<' ? result += "&lt;" : result += c;
  return result;
}

// A browser shows the title of what the pointer is on. gnuplot titles the whole "Gnuplot", and elements, in
// the order of the script, by a number: with the terminal's own titles it would read markup in them.
void set_titles(std::string& svg, const std::string& title, const std::vector<std::string>& titles) {
  constexpr std::string_view kOpen = "<title>";
  constexpr std::string_view kClose = "</title>";
  std::size_t element = 0;
  for (std::size_t at = 0; (at = svg.find(kOpen, at)) != std::string::npos;) {
    const std::size_t text = at + kOpen.size();
    const std::size_t end = svg.find(kClose, text);
    if (end == std::string::npos) return;
    const bool is_whole = svg.compare(text, end - text, "Gnuplot") == 0;
    std::string own = is_whole ? title : element < titles.size() ? titles[element] : "";
    element += is_whole ? 0U : 1U;
    if (!own.empty()) {
      own = fmt::format("{}{}{}", kOpen, xml_text(own), kClose);
    }
    svg.replace(at, end + kClose.size() - at, own);
    at += own.size();
  }
}

}  // namespace

const std::vector<std::string>& figure_formats() {
  static const std::vector<std::string> formats = {"svg", "pdf", "png"};
  return formats;
}

std::string figure_bytes(const FigureFormat& format, const FigureScript& script, const std::string& title) {
  const std::string text = script(format, kGnuplotOutput);
  std::string bytes = run_gnuplot(text);
  if (bytes.empty()) throw Error("gnuplot drew nothing and named no error", ErrorKind::kRuntime);
  if (format.kind == "svg") {
    name_other_fonts(bytes);
    shrink_points(bytes);
    set_titles(bytes, title, titles_of(text));
  }
  return bytes;
}

std::vector<fs::path> draw_figure(const fs::path& folder, const FigureName& name, const FigureScript& script,
                                  const std::vector<std::string>& kinds, double width_mm) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(fmt::format("cannot write figures to '{}': {}; name another folder with --output",
                            folder.string(), error.message()));
  }
  std::vector<fs::path> files;
  for (const std::string& kind : kinds) {
    files.push_back(folder / fmt::format("{}.{}", name.stem, kind));
    write_file_atomically(files.back(), figure_bytes({kind, width_mm}, script, name.title));
  }
  return files;
}

}  // namespace che
