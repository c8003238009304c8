#pragma once

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>

namespace che {

// A loop cut into pieces that do not depend on the number of threads, so that sums of the pieces'
// sums, taken in order, do not either.
struct Pieces {
  std::int64_t items;
  std::int64_t most;  // Pieces.

  std::int64_t count() const { return std::min(items, most); }
  std::int64_t begin(std::int64_t piece) const { return piece * items / count(); }
  std::int64_t end(std::int64_t piece) const { return begin(piece + 1); }

  // Calls f(begin, end) for the items of every piece, side by side within the caller's thread budget.
  template <class F>
  void for_each_piece(const F& f) const {
    tbb::parallel_for(std::int64_t{0}, count(), [&](std::int64_t piece) { f(begin(piece), end(piece)); });
  }

  // Calls f(piece, item) for every item, pieces side by side and the items of a piece in order.
  template <class F>
  void for_each(const F& f) const {
    tbb::parallel_for(std::int64_t{0}, count(), [&](std::int64_t piece) {
      for (std::int64_t item = begin(piece); item < end(piece); ++item) f(piece, item);
    });
  }
};

}  // namespace che
