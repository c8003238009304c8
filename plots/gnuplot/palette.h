#pragma once

namespace che {

// A gnuplot line that sets matplotlib's viridis: even steps of lightness, for colour-blind readers and
// for print.
inline constexpr const char* kViridis =
    "set palette defined (0 '#440154', 1 '#472D7B', 2 '#3B528B', 3 '#2C728E', 4 '#21918C', 5 '#28AE80', "
    "6 '#5EC962', 7 '#ADDC30', 8 '#FDE725')\n";

// The same for signed values: Moreland's cool to warm, white in the middle ("Diverging Color Maps for
// Scientific Visualization", 2009).
inline constexpr const char* kDiverging =
    "set palette defined (-1 '#3B4CC0', -0.75 '#6889EE', -0.5 '#9ABBFF', -0.25 '#C9D8F0', 0 '#F7F7F7', "
    "0.25 '#F2CAB5', 0.5 '#F7A889', 0.75 '#E26A53', 1 '#B40426')\n";

}  // namespace che
