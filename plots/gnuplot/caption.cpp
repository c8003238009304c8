#include "plots/gnuplot/caption.h"

#include <fmt/format.h>

#include <sstream>

#include "plots/gnuplot/gnuplot.h"

namespace che {
namespace {

constexpr int kLine = 20;
constexpr int kSpace = 7;    // Above and below the lines.
constexpr int kMargin = 10;  // On both sides.
constexpr int kFontSize = 13;
constexpr double kCharacter = 9.2;  // Width of one, on average.

}  // namespace

Caption::Caption(const std::string& text, double width) {
  const auto most = static_cast<std::size_t>((width - 2 * kMargin) / kCharacter);
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    std::istringstream words(paragraph);
    bool is_first = true;
    for (std::string word; words >> word; is_first = false) {
      if (is_first || lines_.back().size() + 1 + word.size() > most) {
        lines_.push_back(word);
      } else {
        lines_.back() += " " + word;
      }
    }
  }
}

double Caption::height() const { return static_cast<double>(lines_.size()) * kLine + 2.0 * kSpace; }

std::string Caption::script(double figure_height) const {
  std::string script;
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    const double from_bottom = kSpace + kLine * (static_cast<double>(lines_.size() - line) - 0.5);
    script += fmt::format("set label {} at screen 0.5, screen {} center font ',{}'\n",
                          gnuplot_string(lines_[line]), from_bottom / figure_height, kFontSize);
  }
  return script;
}

}  // namespace che
