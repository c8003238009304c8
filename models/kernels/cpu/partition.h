#pragma once

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>

namespace che {

// A loop cut into parts that do not depend on the number of threads, so that sums of the parts' sums,
// taken in order, do not either.
struct Partition {
  std::int64_t items;
  std::int64_t max_parts;

  std::int64_t count() const { return std::min(items, max_parts); }
  std::int64_t begin(std::int64_t part) const { return part * items / count(); }
  std::int64_t end(std::int64_t part) const { return begin(part + 1); }

  // Calls f(begin, end) for the items of every part, in parallel within the caller's thread budget.
  template <class F>
  void for_each_part(const F& f) const {
    tbb::parallel_for(std::int64_t{0}, count(), [&](std::int64_t part) { f(begin(part), end(part)); });
  }

  // Calls f(part, item) for every item, parts in parallel and the items of a part in order.
  template <class F>
  void for_each(const F& f) const {
    tbb::parallel_for(std::int64_t{0}, count(), [&](std::int64_t part) {
      for (std::int64_t item = begin(part); item < end(part); ++item) f(part, item);
    });
  }
};

}  // namespace che
