// Whether readers tell the encodings' colours apart: with normal vision, with each of the three deficiencies
// of colour vision, and in grey print.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/registry.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

// The least CIEDE2000 distance of any two encodings under each kind of vision, and of each to white paper.
// About 2 is just noticeable side by side; thin lines far apart need several times that.
constexpr double kMinDistance = 16;
// The least step of lightness (CIELAB L*, 0 to 100) between two encodings in grey print.
constexpr double kMinGreyStep = 5;
// Encodings whose greys are nearer than this need different markers.
constexpr double kNearGreys = 12;

Triple product(const Matrix& matrix, const Triple& vector) {
  Triple result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) result[i] += matrix[i][j] * vector[j];
  }
  return result;
}

// "#0072B2" as linear light, 0 to 1 (IEC 61966-2-1).
Triple linear_light(const std::string& colour) {
  Triple light{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    light[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return light;
}

// CIELAB under D65 of linear light.
Triple lab(const Triple& light) {
  constexpr Matrix kToXyz{{{0.4124564, 0.3575761, 0.1804375},
                           {0.2126729, 0.7151522, 0.0721750},
                           {0.0193339, 0.1191920, 0.9503041}}};
  const Triple white = product(kToXyz, {1, 1, 1});
  Triple f = product(kToXyz, light);
  for (std::size_t i = 0; i < 3; ++i) {
    constexpr double kKnee = 6.0 / 29;
    const double part = f[i] / white[i];
    f[i] = part > kKnee * kKnee * kKnee ? std::cbrt(part) : part / (3 * kKnee * kKnee) + 4.0 / 29;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

double degrees(double radians) { return radians * 180 / std::numbers::pi; }
double radians(double degrees) { return degrees * std::numbers::pi / 180; }

// G. Sharma, W. Wu, E. N. Dalal: The CIEDE2000 color-difference formula: implementation notes, supplementary
// test data, and mathematical observations. Color Research and Application 30 (2005).
double ciede2000(const Triple& one, const Triple& other) {
  const double seventh = std::pow(25.0, 7);
  const double mean = (std::hypot(one[1], one[2]) + std::hypot(other[1], other[2])) / 2;
  const double g = 0.5 * (1 - std::sqrt(std::pow(mean, 7) / (std::pow(mean, 7) + seventh)));
  const auto chroma = [g](const Triple& colour) { return std::hypot((1 + g) * colour[1], colour[2]); };
  const auto hue = [g](const Triple& colour) {
    const double angle = degrees(std::atan2(colour[2], (1 + g) * colour[1]));
    return angle < 0 ? angle + 360 : angle;
  };
  const double c1 = chroma(one), c2 = chroma(other), h1 = hue(one), h2 = hue(other);
  const bool is_grey = c1 * c2 == 0;
  double turn = is_grey ? 0 : h2 - h1;
  if (turn > 180) turn -= 360;
  if (turn < -180) turn += 360;
  double hue_mean = h1 + h2;
  if (!is_grey) {
    if (std::abs(h1 - h2) > 180) hue_mean += hue_mean < 360 ? 360 : -360;
    hue_mean /= 2;
  }
  const double hue_difference = 2 * std::sqrt(c1 * c2) * std::sin(radians(turn / 2));
  const double lightness = (one[0] + other[0]) / 2;
  const double c = (c1 + c2) / 2;
  const double t = 1 - 0.17 * std::cos(radians(hue_mean - 30)) + 0.24 * std::cos(radians(2 * hue_mean)) +
                   0.32 * std::cos(radians(3 * hue_mean + 6)) - 0.20 * std::cos(radians(4 * hue_mean - 63));
  const double from_middle = (lightness - 50) * (lightness - 50);
  const double scale_l = 1 + 0.015 * from_middle / std::sqrt(20 + from_middle);
  const double scale_c = 1 + 0.045 * c;
  const double scale_h = 1 + 0.015 * c * t;
  const double rotation = -std::sin(radians(60 * std::exp(-std::pow((hue_mean - 275) / 25, 2)))) * 2 *
                          std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + seventh));
  const double dl = (other[0] - one[0]) / scale_l, dc = (c2 - c1) / scale_c, dh = hue_difference / scale_h;
  return std::sqrt(dl * dl + dc * dc + dh * dh + rotation * dc * dh);
}

struct Vision {
  const char* name;
  Matrix seen;  // Of linear light.
};

// G. M. Machado, M. M. Oliveira, L. A. F. Fernandes: A physiologically-based model for simulation of color
// vision deficiency. IEEE Transactions on Visualization and Computer Graphics 15 (2009), severity 1.0.
constexpr std::array<Vision, 4> kVisions{{
    {"normal", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {"protanopia",
     {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}}},
    {"deuteranopia",
     {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}}},
    {"tritanopia",
     {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}},
}};

Triple seen(const Vision& vision, const std::string& colour) {
  Triple light = product(vision.seen, linear_light(colour));
  for (double& part : light) part = std::clamp(part, 0.0, 1.0);
  return lab(light);
}

double distance(const Vision& vision, const std::string& one, const std::string& other) {
  return ciede2000(seen(vision, one), seen(vision, other));
}

// What grey print keeps.
double lightness(const std::string& colour) { return lab(linear_light(colour))[0]; }

std::vector<const EncodingEntry*> all_encodings() {
  std::vector<const EncodingEntry*> entries;
  for (const std::string& name : Registry<EncodingEntry>::instance().names()) {
    entries.push_back(&Registry<EncodingEntry>::instance().get(name));
  }
  return entries;
}

TEST(Palette, TheDistanceIsThatOfThePublishedTestData) {
  EXPECT_NEAR(ciede2000({50, 2.6772, -79.7751}, {50, 0, -82.7485}), 2.0425, 5e-5);
  EXPECT_NEAR(ciede2000({50, -1, 2}, {50, 0, 0}), 2.3669, 5e-5);
  EXPECT_NEAR(ciede2000({50, 2.49, -0.001}, {50, -2.49, 0.0011}), 7.2195, 5e-5);
  EXPECT_NEAR(ciede2000({60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}), 1.2644, 5e-5);
  EXPECT_NEAR(ciede2000({2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}), 0.9082, 5e-5);
}

// The colours that readers with deuteranopia took for one another: what the tests below are for.
TEST(Palette, ADeficiencySeesTwoColoursAsOne) {
  EXPECT_GT(distance(kVisions[0], "#D55E00", "#8F8A00"), 20);
  EXPECT_LT(distance(kVisions[2], "#D55E00", "#8F8A00"), 5);
}

TEST(Palette, EveryReaderTellsTheColoursApart) {
  const std::vector<const EncodingEntry*> entries = all_encodings();
  for (const Vision& vision : kVisions) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      EXPECT_GE(distance(vision, entries[i]->colour, "#FFFFFF"), kMinDistance)
          << entries[i]->name << " and paper, " << vision.name;
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_GE(distance(vision, entries[i]->colour, entries[j]->colour), kMinDistance)
            << entries[i]->name << " and " << entries[j]->name << ", " << vision.name;
      }
    }
  }
}

TEST(Palette, GreysHaveStepsAndNearOnesDifferentMarkers) {
  const std::vector<const EncodingEntry*> entries = all_encodings();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_NE(entries[i]->marker, Marker::kNone) << entries[i]->name;
    for (std::size_t j = 0; j < i; ++j) {
      const double step = std::abs(lightness(entries[i]->colour) - lightness(entries[j]->colour));
      const std::string both = fmt::format("{} and {}", entries[i]->name, entries[j]->name);
      EXPECT_GE(step, kMinGreyStep) << both;
      if (step < kNearGreys) {
        EXPECT_NE(entries[i]->marker, entries[j]->marker) << both;
      }
    }
  }
}

}  // namespace
}  // namespace che
