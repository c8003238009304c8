#include "tasks/declared/finite_automaton.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/number_text.h"
#include "core/text.h"

namespace che {

std::vector<std::uint8_t> FiniteAutomaton::reachable() const {
  std::vector<std::uint8_t> reached(states(), 0);
  std::vector<std::int32_t> open = {start};
  reached[static_cast<std::size_t>(start)] = 1;
  while (!open.empty()) {
    const std::int32_t state = open.back();
    open.pop_back();
    for (std::size_t symbol = 0; symbol < symbols.size(); ++symbol) {
      const std::int32_t target = step(state, symbol);
      if (reached[static_cast<std::size_t>(target)] != 0) continue;
      reached[static_cast<std::size_t>(target)] = 1;
      open.push_back(target);
    }
  }
  return reached;
}

namespace {

constexpr std::int64_t kMaxStateNumber = 2'147'483'647;
constexpr std::array<std::string_view, 6> kEpsilons = {"<eps>", "<epsilon>", "@0@", "@_EPSILON_SYMBOL_@",
                                                       "<>",    "ε"};
constexpr std::string_view kForms =
    "allowed: 'source target input [output]' for a transition, 'state' for a final state";

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  std::size_t at = line.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

struct Transition {
  std::int64_t source;
  std::int64_t target;
  std::size_t input;
  std::size_t output;
  int line;
};

// Reads the text line by line.
class AttReader {
 public:
  AttReader(ConfigLocation origin, std::string_view symbols, std::string_view outputs)
      : location_(std::move(origin)), symbols_(symbols), outputs_(outputs) {}

  FiniteAutomaton read(std::string_view text) {
    const ConfigLocation origin = location_;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      read_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      ++location_.line;
    }
    location_ = origin;
    if (!start_) fail("the automaton is empty; its first line is a transition from the start");
    return automaton();
  }

 private:
  [[noreturn]] void fail(std::string_view problem) const { throw config_error(location_, "", problem); }

  void read_line(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    if (words.size() == 1 && words[0].find_first_not_of('-') == std::string_view::npos) {
      fail("a second automaton begins here; allowed: one");
    }
    if (words[0].starts_with("#")) fail("the format has no comments; take this line out");
    const std::int64_t source = state(words[0]);
    if (!start_) start_ = source;
    if (words.size() <= 2) {
      if (words.size() == 2) refuse_weight(words[1]);
      add_final(source);
    } else {
      add_transition(source, words);
    }
    numbers_.emplace(source, 0);
    check_size();
  }

  std::int64_t state(std::string_view word) const {
    const auto number = parse_integer(word);
    if (!number || *number < 0 || *number > kMaxStateNumber) {
      fail(fmt::format("got '{}' for a state; {}; states are whole numbers from 0 to {}", one_line(word),
                       kForms, kMaxStateNumber));
    }
    return *number;
  }

  // OpenFST's acceptors may have a weight in the place of an output.
  bool is_zero_weight(std::string_view word) const {
    return parse_real(word) == 0 && symbols_.find(word) == std::string_view::npos;
  }

  // A weight of 0 changes nothing.
  void refuse_weight(std::string_view word) const {
    const auto weight = parse_real(word);
    if (!weight) fail(fmt::format("got '{}' behind a final state; {}", one_line(word), kForms));
    if (*weight != 0) {
      fail(fmt::format("has the weight {}; allowed: an automaton without weights; is a symbol missing?",
                       one_line(word)));
    }
  }

  std::size_t symbol(std::string_view word, std::string_view alphabet, std::string_view key) const {
    if (std::ranges::count(kEpsilons, word) > 0) {
      fail(fmt::format("'{}' is epsilon; allowed: automata without epsilon (fstrmepsilon removes it)", word));
    }
    const std::size_t id = word.size() == 1 ? alphabet.find(word[0]) : std::string_view::npos;
    if (id == std::string_view::npos) {
      fail(fmt::format("'{}' is not one of the {}; allowed: {}", one_line(word), key,
                       fmt::join(alphabet.begin(), alphabet.end(), " ")));
    }
    return id;
  }

  void add_final(std::int64_t number) {
    if (!finals_.emplace(number, location_.line).second) {
      fail(fmt::format("state {} is final already, by line {}", number, finals_.at(number)));
    }
  }

  void add_transition(std::int64_t source, const std::vector<std::string_view>& words) {
    if (words.size() > 5) fail(fmt::format("got {} columns; {}", words.size(), kForms));
    const std::int64_t target = state(words[1]);
    const std::size_t input = symbol(words[2], symbols_, "symbols");
    std::size_t output = 0;
    if (!outputs_.empty()) {
      if (words.size() < 4) {
        fail("the output is missing; the answer takes a transducer: 'source target input output'");
      }
      output = symbol(words[3], outputs_, "outputs");
    } else if (words.size() >= 4 && words[3] != words[2] &&
               !(words.size() == 4 && is_zero_weight(words[3]))) {
      fail(fmt::format(
          "maps '{}' to '{}' or has that weight; the answer takes an acceptor without weights: 'source "
          "target input'",
          words[2], one_line(words[3])));
    }
    if (words.size() == 5) refuse_weight(words[4]);
    const auto [first, is_new] = edges_.emplace(std::pair(source, input), location_.line);
    if (!is_new) {
      fail(fmt::format(
          "not deterministic: state {} has two transitions for '{}', the first in line {}; fstdeterminize "
          "makes an automaton deterministic",
          source, words[2], first->second));
    }
    transitions_.push_back({source, target, input, output, location_.line});
    numbers_.emplace(target, 0);
  }

  void check_size() const {
    if (numbers_.size() > kMaxStates)
      fail(fmt::format("more than {} states; allowed: at most that many", kMaxStates));
    if (transitions_.size() > kMaxTransitions) {
      fail(fmt::format("more than {} transitions; allowed: at most that many", kMaxTransitions));
    }
  }

  FiniteAutomaton automaton() {
    FiniteAutomaton result;
    result.symbols = symbols_;
    for (auto& [number, id] : numbers_) {
      id = static_cast<std::int32_t>(result.numbers.size());
      result.numbers.push_back(number);
    }
    const bool is_complete = transitions_.size() == numbers_.size() * symbols_.size();
    const std::size_t states = numbers_.size() + (is_complete ? 0 : 1);
    const auto last = static_cast<std::int32_t>(states - 1);
    if (!is_complete) result.sink = last;
    result.start = numbers_.at(*start_);
    result.accepting.assign(states, 0);
    for (const auto& [number, line] : finals_) {
      result.accepting[static_cast<std::size_t>(numbers_.at(number))] = 1;
    }
    result.next.assign(states * symbols_.size(), last);
    if (!outputs_.empty()) result.output.assign(states * symbols_.size(), 0);
    for (const Transition& transition : transitions_) {
      const std::size_t edge = result.edge(numbers_.at(transition.source), transition.input);
      result.next[edge] = numbers_.at(transition.target);
      if (!outputs_.empty()) result.output[edge] = static_cast<std::uint8_t>(transition.output);
    }
    return result;
  }

  ConfigLocation location_;  // The line that is read.
  std::string symbols_;
  std::string outputs_;
  std::optional<std::int64_t> start_;
  std::vector<Transition> transitions_;
  std::map<std::int64_t, int> finals_;                         // By state, with the line.
  std::map<std::pair<std::int64_t, std::size_t>, int> edges_;  // By state and input, with the line.
  std::map<std::int64_t, std::int32_t> numbers_;               // The states' ids.
};

}  // namespace

FiniteAutomaton parse_att_text(std::string_view text, const ConfigLocation& origin, std::string_view symbols,
                               std::string_view outputs) {
  return AttReader(origin, symbols, outputs).read(text);
}

std::string att_text(const FiniteAutomaton& automaton, std::string_view outputs) {
  std::string text;
  const auto number = [&](std::int32_t state) { return automaton.numbers[static_cast<std::size_t>(state)]; };
  const auto add_state = [&](std::int32_t state) {
    for (std::size_t symbol = 0; symbol < automaton.symbols.size(); ++symbol) {
      const std::int32_t target = automaton.step(state, symbol);
      if (target == automaton.sink) continue;
      fmt::format_to(std::back_inserter(text), "{} {} {}", number(state), number(target),
                     automaton.symbols[symbol]);
      if (!outputs.empty()) {
        fmt::format_to(std::back_inserter(text), " {}",
                       outputs[automaton.output[automaton.edge(state, symbol)]]);
      }
      text += '\n';
    }
  };
  add_state(automaton.start);
  // A start without transitions is named by its final state's line, or there is nothing to be read.
  if (text.empty()) text = fmt::format("{}\n", number(automaton.start));
  const bool start_is_written = text.find(' ') == std::string::npos;
  const auto states = static_cast<std::int32_t>(automaton.numbers.size());
  for (std::int32_t state = 0; state < states; ++state) {
    if (state != automaton.start) add_state(state);
  }
  for (std::int32_t state = 0; state < states; ++state) {
    if (!automaton.is_accepting(state) || (start_is_written && state == automaton.start)) continue;
    fmt::format_to(std::back_inserter(text), "{}\n", number(state));
  }
  return text;
}

namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

}  // namespace

std::string parse_symbol_table(std::string_view text, const ConfigLocation& origin) {
  ConfigLocation location = origin;
  std::map<std::int64_t, char> symbols;
  for (; !text.empty(); ++location.line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const auto fail = [&](std::string_view problem) {
      throw config_error(location, "", fmt::format("{}; allowed: 'symbol number' per line", problem));
    };
    const std::size_t blank = std::min(line.find_first_of(kBlanks), line.size());
    const std::string_view symbol = line.substr(0, blank);
    const auto number = parse_integer(trimmed(line.substr(blank)));
    if (!number || *number < 0) fail(fmt::format("got '{}'", one_line(line)));
    if (*number == 0) continue;
    if (symbol.size() != 1 || symbol[0] <= ' ' || symbol[0] > '~') {
      fail(
          fmt::format("got the symbol '{}', which is no single printable ASCII character", one_line(symbol)));
    }
    const auto is_same = [&](const auto& entry) { return entry.second == symbol[0]; };
    if (symbols.contains(*number) || std::ranges::any_of(symbols, is_same)) {
      fail(fmt::format("'{}' or its number {} is there twice", symbol, *number));
    }
    symbols.emplace(*number, symbol[0]);
  }
  std::string ordered;
  for (const auto& [number, symbol] : symbols) ordered += symbol;
  return ordered;
}

}  // namespace che
