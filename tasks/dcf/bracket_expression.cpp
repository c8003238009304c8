#include "tasks/dcf/bracket_expression.h"

#include <cstddef>
#include <vector>

#include "tasks/uniform_symbols.h"

namespace che {
namespace {

constexpr std::size_t kMaxLeaf = 4;

// Writes E(1) .. E(4) at `symbol`; returns the value.
std::uint8_t write_leaf(const BracketSymbols& symbols, std::uint8_t digit, std::size_t size,
                        std::uint8_t* symbol) {
  const bool negative = size % 2 == 0;
  const bool bracketed = size > 2;
  if (bracketed) *symbol++ = symbols.open;
  if (negative) *symbol++ = kMinus;
  *symbol++ = digit;
  if (bracketed) *symbol = symbols.close;
  return static_cast<std::uint8_t>(negative && digit > 0 ? kExpressionModulus - digit : digit);
}

std::uint8_t apply(std::uint8_t operation, unsigned left, unsigned right) {
  const unsigned value = operation == kPlus    ? left + right
                         : operation == kMinus ? left + kExpressionModulus - right
                                               : left * right;
  return static_cast<std::uint8_t>(value % kExpressionModulus);
}

// The value of an expression in Polish notation: values below kExpressionModulus, operators above.
// The notation is read from its end; the stack of values takes the place of what has been read.
std::uint8_t evaluate(std::vector<std::uint8_t>& polish) {
  std::size_t top = polish.size();
  for (std::size_t i = polish.size(); i-- > 0;) {
    std::uint8_t value = polish[i];
    if (value >= kExpressionModulus) {
      value = apply(value, polish[top], polish[top + 1]);
      top += 2;
    }
    polish[--top] = value;
  }
  return polish[top];
}

}  // namespace

std::uint8_t draw_bracket_expression(RandomStream& random, const BracketSymbols& symbols,
                                     std::span<std::uint8_t> expression) {
  struct Part {
    std::size_t start;
    std::size_t size;
  };
  // No recursion: an expression of a million symbols can be 250,000 brackets deep. What a thread
  // has allocated serves all its samples.
  thread_local std::vector<Part> pending;
  thread_local std::vector<std::uint8_t> polish;
  polish.clear();

  UniformDigits<kExpressionModulus> digits(random);
  pending.assign(1, {0, expression.size()});
  while (!pending.empty()) {
    const Part part = pending.back();
    pending.pop_back();
    if (part.size <= kMaxLeaf) {
      polish.push_back(write_leaf(symbols, digits(), part.size, &expression[part.start]));
      continue;
    }
    const std::uint32_t drawn = random.below((part.size - 4) * symbols.operators);
    const std::size_t left_size = 1 + drawn / symbols.operators;
    const auto operation = static_cast<std::uint8_t>(kPlus + drawn % symbols.operators);
    const std::size_t left = part.start + 1;
    const std::size_t right = left + left_size + 1;
    expression[part.start] = symbols.open;
    expression[right - 1] = operation;
    expression[part.start + part.size - 1] = symbols.close;
    polish.push_back(operation);
    pending.push_back({right, part.size - 3 - left_size});
    pending.push_back({left, left_size});
  }
  return evaluate(polish);
}

}  // namespace che
