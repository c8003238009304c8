#pragma once

#include <string>
#include <vector>

namespace che {

// The text at the bottom of a figure, each of its lines in as many as the width asks for. Sizes in pixels.
class Caption {
 public:
  Caption(const std::string& text, double width);

  double height() const;
  // gnuplot's labels for a figure of this height.
  std::string script(double figure_height) const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace che
