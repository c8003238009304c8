#pragma once

#include <cstdint>

namespace che {

// Rows of heads of one token: out = heads * cosine + swap(heads) * sine with neighbouring features
// swapped, all (head_width) long but heads and out (heads, head_width). head_width is even. `sign` is
// multiplied with the sine.
void rotate_heads(const float* heads, std::int64_t count, std::int64_t head_width, const float* cosine,
                  const float* sine, float sign, float* out);

}  // namespace che
