#include "tests/tasks/oracle.h"

#include <gmpxx.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>

namespace che {
namespace {

void require(bool condition, const char* reason) {
  if (!condition) throw std::invalid_argument(reason);
}

void require_alphabet(const Symbols& input, int size) {
  for (const int symbol : input) require(0 <= symbol && symbol < size, "symbol out of the alphabet");
}

void require_length(const Symbols& input, std::int64_t length) {
  require(static_cast<std::int64_t>(input.size()) == length, "wrong input length");
}

Answer counted(Symbols output) {
  Symbols mask(output.size(), 1);
  return {std::move(output), std::move(mask)};
}

// Terminator and padding after `answer`, `size` symbols in all; counts up to the terminator.
Answer terminated(Symbols answer, std::int64_t size) {
  Symbols mask(answer.size() + 1, 1);
  answer.push_back(2);
  require(static_cast<std::int64_t>(answer.size()) <= size, "answer does not fit");
  answer.resize(static_cast<std::size_t>(size), 0);
  mask.resize(static_cast<std::size_t>(size), 0);
  return {std::move(answer), std::move(mask)};
}

int modulo_5(int value) { return ((value % 5) + 5) % 5; }

Answer even_pairs(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  require_alphabet(input, 2);
  int changes = 0;
  for (std::size_t i = 0; i + 1 < input.size(); ++i) changes += input[i] != input[i + 1];
  return counted({changes % 2});
}

Answer parity_check(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  require_alphabet(input, 2);
  return counted({static_cast<int>(std::count(input.begin(), input.end(), 1) % 2)});
}

Answer cycle_navigation(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  require_alphabet(input, 3);
  int cell = 0;
  for (const int step : input) cell = modulo_5(cell + step - 1);
  return counted({cell});
}

// Splits at plus and minus, then multiplies.
Answer modular_arithmetic_simple(std::int64_t length, const Symbols& input) {
  require_length(input, length % 2 == 1 ? length : length - 1);
  for (std::size_t i = 0; i < input.size(); ++i) {
    require(i % 2 == 0 ? 0 <= input[i] && input[i] < 5 : 5 <= input[i] && input[i] < 8,
            "digits and operators do not alternate");
  }
  int value = 0;
  for (std::size_t i = 0; i < input.size();) {
    const int sign = i > 0 && input[i - 1] == 6 ? -1 : 1;
    int product = input[i++];
    for (; i < input.size() && input[i] == 7; i += 2) product = product * input[i + 1] % 5;
    value = modulo_5(value + sign * product);
    ++i;
  }
  return counted({value});
}

// Recursive descent over the expressions that the distribution E(n) can give:
// d | -d | (d) | (-d) | (E operator E).
class BracketParser {
 public:
  BracketParser(const Symbols& symbols, int operators, int open, int close)
      : symbols_(symbols), last_operator_(4 + operators), open_(open), close_(close) {}

  int value() {
    const int result = expression();
    require(next_ == symbols_.size(), "symbols after the expression");
    require(symbols_.size() < 5 || symbols_.front() == open_, "not one bracketed operation");
    return result;
  }

 private:
  int take() {
    require(next_ < symbols_.size(), "expression ends too soon");
    return symbols_[next_++];
  }

  int digit(int symbol) {
    require(0 <= symbol && symbol < 5, "digit expected");
    return symbol;
  }

  int expression() {
    const int first = take();
    if (first == 6) return modulo_5(-digit(take()));
    if (first != open_) return digit(first);
    const std::size_t start = next_;
    const int left = expression();
    const std::size_t left_size = next_ - start;
    const int operation = take();
    if (operation == close_) {
      require(left_size <= 2, "needless brackets");
      return left;
    }
    require(5 <= operation && operation <= last_operator_, "operator expected");
    const int right = expression();
    require(take() == close_, "closing bracket expected");
    return modulo_5(operation == 5 ? left + right : operation == 6 ? left - right : left * right);
  }

  const Symbols& symbols_;
  std::size_t next_ = 0;
  int last_operator_;
  int open_;
  int close_;
};

Answer modular_arithmetic_brackets(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  return counted({BracketParser(input, 3, 8, 9).value()});
}

// Tries every digit for x.
Answer solve_equation(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  if (length < 3) {
    require(input == Symbols(static_cast<std::size_t>(length), 0), "zeros expected");
    return counted({0});
  }
  require(std::count(input.begin(), input.end(), 9) == 1, "x must occur once");
  require(std::count(input.begin(), input.end(), 10) == 1 && input[input.size() - 2] == 10,
          "equals sign out of place");
  const auto unknown = static_cast<std::size_t>(std::find(input.begin(), input.end(), 9) - input.begin());
  require(unknown < input.size() - 2, "x must be left of the equals sign");
  Symbols solutions;
  for (int digit = 0; digit < 5; ++digit) {
    Symbols expression(input.begin(), input.end() - 2);
    expression[unknown] = digit;
    if (BracketParser(expression, 2, 7, 8).value() == input.back()) solutions.push_back(digit);
  }
  require(solutions.size() == 1, "no unique solution");
  return counted(solutions);
}

Answer stack_manipulation(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  require_alphabet(input, 5);
  const auto is_action = [](int symbol) { return symbol >= 2; };
  const auto actions = std::find_if(input.begin(), input.end(), is_action);
  require(std::all_of(actions, input.end(), is_action), "stack symbol after an action");
  require(actions != input.begin(), "empty initial stack");
  require(length == 1 || actions != input.end(), "no action");
  Symbols stack(input.begin(), actions);
  for (auto action = actions; action != input.end(); ++action) {
    if (*action != 2) {
      stack.push_back(*action - 3);
    } else if (!stack.empty()) {
      stack.pop_back();
    }
  }
  return terminated(Symbols(stack.rbegin(), stack.rend()), length + 1);
}

Answer reverse_string(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  require_alphabet(input, 2);
  return counted(Symbols(input.rbegin(), input.rend()));
}

Answer duplicate_string(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  require_alphabet(input, 2);
  Symbols output = input;
  output.insert(output.end(), input.begin(), input.end());
  return counted(output);
}

Answer missing_duplicate(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  if (length == 1) {
    require(input == Symbols{1}, "the symbol 1 expected");
    return counted({1});
  }
  const auto half = static_cast<std::size_t>(length / 2);
  if (length % 2 == 1) require(input.back() == 3, "padding expected");
  Symbols answer;
  for (std::size_t i = 0; i < half; ++i) {
    const int first = input[i];
    const int second = input[half + i];
    require(0 <= first && first <= 2 && 0 <= second && second <= 2, "letter or hole expected");
    if (first == 2 || second == 2) {
      answer.push_back(first == 2 ? second : first);
    } else {
      require(first == second, "halves differ");
    }
  }
  require(answer.size() == 1 && answer[0] != 2, "one hole expected");
  return counted(answer);
}

Answer odds_first(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  require_alphabet(input, 2);
  std::vector<std::size_t> order(input.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(), [](std::size_t index) { return index % 2 == 1; });
  Symbols output;
  for (const std::size_t index : order) output.push_back(input[index]);
  return counted(output);
}

// `bits` most significant bit first.
mpz_class number(const Symbols& bits) {
  std::string text;
  for (const int bit : bits) text += bit == 0 ? '0' : '1';
  return mpz_class(text, 2);
}

mpz_class reversed_number(const Symbols& bits) { return number(Symbols(bits.rbegin(), bits.rend())); }

Symbols reversed_bits(const mpz_class& value) {
  const std::string text = value.get_str(2);
  Symbols bits;
  for (auto bit = text.rbegin(); bit != text.rend(); ++bit) bits.push_back(*bit - '0');
  return bits;
}

struct Terms {
  mpz_class first;
  mpz_class second;
};

Terms binary_terms(const Symbols& input) {
  const auto separator = std::find(input.begin(), input.end(), 2);
  require(separator != input.begin() && separator < input.end() - 1, "two numbers expected");
  const Symbols first(input.begin(), separator);
  const Symbols second(separator + 1, input.end());
  require_alphabet(first, 2);
  require_alphabet(second, 2);
  Terms terms{reversed_number(first), reversed_number(second)};
  require(terms.first != 0 && terms.second != 0, "zero");
  return terms;
}

void require_short_number(const Symbols& input) {
  require_alphabet(input, 2);
  require(std::count(input.begin(), input.end(), 0) > 0, "all ones");
}

Answer binary_addition(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  if (length < 3) {
    require_short_number(input);
    return terminated(reversed_bits(reversed_number(input)), length + 1);
  }
  const Terms terms = binary_terms(input);
  return terminated(reversed_bits(terms.first + terms.second), length + 1);
}

Answer binary_multiplication(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  if (length < 3) {
    require_short_number(input);
    return counted(length == 1 ? Symbols{2} : Symbols{0, 2});
  }
  const Terms terms = binary_terms(input);
  return terminated(reversed_bits(terms.first * terms.second), length);
}

Answer compute_sqrt(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  require_alphabet(input, 2);
  const mpz_class radicand = number(input);
  require(radicand != 0, "zero");
  Symbols bits = reversed_bits(sqrt(radicand));
  bits.resize(static_cast<std::size_t>((length + 1) / 2), 0);
  return counted(Symbols(bits.rbegin(), bits.rend()));
}

Answer bucket_sort(std::int64_t length, const Symbols& input) {
  require_length(input, length);
  require_alphabet(input, 5);
  Symbols output = input;
  std::sort(output.begin(), output.end());
  return counted(output);
}

const std::map<std::string, std::function<Answer(std::int64_t, const Symbols&)>>& oracles() {
  static const std::map<std::string, std::function<Answer(std::int64_t, const Symbols&)>> all = {
      {"even_pairs", even_pairs},
      {"modular_arithmetic_simple", modular_arithmetic_simple},
      {"parity_check", parity_check},
      {"cycle_navigation", cycle_navigation},
      {"stack_manipulation", stack_manipulation},
      {"reverse_string", reverse_string},
      {"modular_arithmetic_brackets", modular_arithmetic_brackets},
      {"solve_equation", solve_equation},
      {"duplicate_string", duplicate_string},
      {"missing_duplicate", missing_duplicate},
      {"odds_first", odds_first},
      {"binary_addition", binary_addition},
      {"binary_multiplication", binary_multiplication},
      {"compute_sqrt", compute_sqrt},
      {"bucket_sort", bucket_sort},
  };
  return all;
}

}  // namespace

Answer oracle(const std::string& task, std::int64_t length, const Symbols& input) {
  return oracles().at(task)(length, input);
}

bool has_oracle(const std::string& task) { return oracles().contains(task); }

}  // namespace che
