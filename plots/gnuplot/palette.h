#pragma once

namespace che {

// A gnuplot line that sets matplotlib's viridis: even steps of lightness, for colour-blind readers and
// for print.
inline constexpr const char* kViridis =
    "set palette defined (0 '#440154', 1 '#472D7B', 2 '#3B528B', 3 '#2C728E', 4 '#21918C', 5 '#28AE80', "
    "6 '#5EC962', 7 '#ADDC30', 8 '#FDE725')\n";

}  // namespace che
