#include "tasks/cs/binary_number.h"

#include <gmp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tasks/task.h"
#include "tasks/uniform_symbols.h"

namespace che {
namespace {

constexpr std::uint8_t kOperator = 2;
constexpr std::size_t kLimbBits = 64;
static_assert(GMP_NUMB_BITS == kLimbBits);

std::size_t limbs_of(std::size_t bits) { return (bits + kLimbBits - 1) / kLimbBits; }

// At most 64 bits.
std::uint64_t pack_word(std::span<const std::uint8_t> bits) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) word |= std::uint64_t{bits[i]} << i;
  return word;
}

void unpack_word(std::uint64_t word, std::span<std::uint8_t> bits) {
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint8_t>(word >> i & 1);
}

void pack(std::span<const std::uint8_t> bits, std::vector<mp_limb_t>& limbs) {
  limbs.resize(limbs_of(bits.size()));
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    const auto rest = bits.subspan(i * kLimbBits);
    limbs[i] = pack_word(rest.first(std::min(kLimbBits, rest.size())));
  }
}

// `limbs` holds at least as many bits as are asked for.
void unpack(const std::vector<mp_limb_t>& limbs, std::span<std::uint8_t> bits) {
  for (std::size_t i = 0; i * kLimbBits < bits.size(); ++i) {
    const auto rest = bits.subspan(i * kLimbBits);
    unpack_word(limbs[i], rest.first(std::min(kLimbBits, rest.size())));
  }
}

std::uint64_t word_square_root(std::uint64_t number) {
  // Rounding to double can only make the root too large, by one, and then up to 2^32: the root of any
  // r * r of 64 bits, rounded, is r.
  constexpr std::uint64_t kMaxRoot = 0xffffffffU;
  auto root = std::min(static_cast<std::uint64_t>(std::sqrt(static_cast<double>(number))), kMaxRoot);
  while (root * root > number) --root;
  return root;
}

// Whether a number is nearer to (root + 1)^2 than to root^2 in its square root: more than root^2 + root, the
// whole part of (root + 1/2)^2. `remainder` is the number without root^2.
bool is_above_the_middle(std::uint64_t remainder, std::uint64_t root) { return remainder > root; }

// The same, least significant limb first; zeros may lead `root` only.
bool is_above_the_middle(const std::vector<mp_limb_t>& remainder, const std::vector<mp_limb_t>& root) {
  std::size_t limbs = root.size();
  while (limbs > 0 && root[limbs - 1] == 0) --limbs;
  if (remainder.size() != limbs) return remainder.size() > limbs;
  return mpn_cmp(remainder.data(), root.data(), static_cast<mp_size_t>(limbs)) > 0;
}

}  // namespace

void draw_nonzero(RandomStream& random, std::span<std::uint8_t> bits) {
  do {
    fill_uniform_bits(random, bits);
  } while (std::find(bits.begin(), bits.end(), 1) == bits.end());
}

Operands draw_operands(RandomStream& random, std::span<std::uint8_t> input) {
  if (input.size() < 3) {
    // The complement of a nonzero number: uniform over all but the largest.
    draw_nonzero(random, input);
    for (std::uint8_t& bit : input) bit ^= 1;
    return {input, {}};
  }
  const std::size_t first_size = 1 + random.below(input.size() - 2);
  const auto first = input.first(first_size);
  const auto second = input.subspan(first_size + 1);
  draw_nonzero(random, first);
  input[first_size] = kOperator;
  draw_nonzero(random, second);
  return {first, second};
}

void multiply(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second,
              std::span<std::uint8_t> product) {
  if (product.size() <= kLimbBits) {
    unpack_word(pack_word(first) * pack_word(second), product);
    return;
  }
  thread_local std::vector<mp_limb_t> longer;
  thread_local std::vector<mp_limb_t> shorter;
  thread_local std::vector<mp_limb_t> result;
  if (first.size() < second.size()) std::swap(first, second);
  pack(first, longer);
  pack(second, shorter);
  result.resize(longer.size() + shorter.size());
  mpn_mul(result.data(), longer.data(), static_cast<mp_size_t>(longer.size()), shorter.data(),
          static_cast<mp_size_t>(shorter.size()));
  unpack(result, product);
}

void integer_square_root(std::span<const std::uint8_t> number, Rounding rounding,
                         std::span<std::uint8_t> root) {
  thread_local std::vector<std::uint8_t> bits;
  bits.assign(number.rbegin(), number.rend());
  if (bits.size() <= kLimbBits) {
    const std::uint64_t value = pack_word(bits);
    std::uint64_t result = word_square_root(value);
    if (rounding == Rounding::kNearest && is_above_the_middle(value - result * result, result)) ++result;
    unpack_word(result, root);
  } else {
    thread_local std::vector<mp_limb_t> limbs;
    thread_local std::vector<mp_limb_t> result;
    thread_local std::vector<mp_limb_t> remainder;
    pack(bits, limbs);
    result.assign(limbs_of(root.size()), 0);
    while (limbs.back() == 0) limbs.pop_back();  // GMP wants a leading limb that is not zero.
    remainder.resize(limbs.size());
    const auto left = static_cast<std::size_t>(
        mpn_sqrtrem(result.data(), remainder.data(), limbs.data(), static_cast<mp_size_t>(limbs.size())));
    remainder.resize(left);
    if (rounding == Rounding::kNearest && is_above_the_middle(remainder, result)) {
      mpn_add_1(result.data(), result.data(), static_cast<mp_size_t>(result.size()), 1);
    }
    unpack(result, root);
  }
  std::reverse(root.begin(), root.end());
}

void reverse_numbers(std::span<std::uint8_t> input, std::span<std::uint8_t> output) {
  const auto middle = std::find(input.begin(), input.end(), kOperator);
  std::reverse(input.begin(), middle);
  if (middle != input.end()) std::reverse(middle + 1, input.end());
  std::reverse(output.begin(), std::find(output.begin(), output.end(), kTerminator));
}

void terminate_number(std::span<std::uint8_t> output, std::size_t bits) {
  while (bits > 1 && output[bits - 1] == 0) --bits;
  output[bits] = kTerminator;
  std::fill(output.begin() + static_cast<std::ptrdiff_t>(bits) + 1, output.end(), std::uint8_t{0});
}

}  // namespace che
