#pragma once

namespace che {

// The shape that stands on an encoding's curves.
enum class Marker {
  kNone,
  kCircle,
  kDisc,
  kSquare,
  kFullSquare,
  kTriangle,
  kFullTriangle,
  kDownTriangle,
  kFullDownTriangle,
  kDiamond,
  kFullDiamond,
  kPentagon,
  kFullPentagon,
  kCross,
  kPlus,
};

}  // namespace che
