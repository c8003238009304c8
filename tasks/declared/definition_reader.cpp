#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "core/config/reader.h"
#include "core/error.h"
#include "core/files.h"
#include "core/number_text.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "tasks/declared/finite_automaton.h"
#include "tasks/declared/finite_group.h"
#include "tasks/declared/task_definition.h"
#include "tasks/symbols.h"

namespace che {
namespace {

using Kind = ConfigNode::Kind;

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxNameLength = 60;
constexpr std::size_t kMaxLineLength = 1'000;
constexpr std::int64_t kMaxVersion = 1'000'000;

// The number of entries of a list, for a message.
std::string count_text(std::size_t count) { return count == 0 ? "an empty list" : fmt::format("{}", count); }

// Reads the map of a definition.
class DefinitionReader {
 public:
  DefinitionReader(const ConfigNode& root, std::filesystem::path folder)
      : root_(root), folder_(std::move(folder)) {}

  TaskDefinition read() {
    check_keys(root_, "",
               {"name", "version", "level", "description", "source", "automaton", "group", "generators",
                "symbols", "outputs", "answer", "sample"});
    definition_.name = read_name(require("name", "a name for the task, such as tomita_4"));
    if (const ConfigNode* const node = find("version")) definition_.version = read_version(*node);
    if (const ConfigNode* const node = find("level")) definition_.level = choice("level", *node, kLevels);
    definition_.description = line("description");
    definition_.source = line("source");
    definition_.answer =
        choice("answer", require("answer", "accept, last_state, states, last_output or output"), kAnswers);
    if (const ConfigNode* const node = find("sample"))
      definition_.sampling = choice("sample", *node, kSamplings);
    if (find("group") != nullptr) {
      read_group();
    } else {
      read_automaton();
    }
    name_outputs();
    check_sampling();
    check_answer_varies();
    return std::move(definition_);
  }

 private:
  const ConfigNode* find(std::string_view key) const {
    const ConfigEntry* const entry = root_.find(key);
    return entry == nullptr ? nullptr : &entry->value;
  }

  const ConfigNode& require(std::string_view key, std::string_view allowed) const {
    if (const ConfigNode* const node = find(key)) return *node;
    throw config_error({root_.location.source}, key, fmt::format("is missing; allowed: {}", allowed));
  }

  [[noreturn]] void refuse(std::string_view key, const ConfigNode& node, std::string_view allowed) const {
    throw config_error(node.location, key, fmt::format("got {}; allowed: {}", short_text(node), allowed));
  }

  // The error of a key that another one excludes.
  [[noreturn]] void fail(std::string_view key, std::string_view problem) const {
    const ConfigEntry* const entry = root_.find(key);
    throw config_error(entry == nullptr ? ConfigLocation{root_.location.source} : entry->location, key,
                       problem);
  }

  template <class Value, std::size_t N>
  Value choice(std::string_view key, const ConfigNode& node, const std::array<Word<Value>, N>& words) const {
    std::vector<std::string> names;
    for (const auto& word : words) {
      if (node.kind == Kind::kScalar && node.text == word.text) return word.value;
      names.emplace_back(word.text);
    }
    throw config_error(
        node.location, key,
        fmt::format("got {}{}", short_text(node), known_names_hint(node.text, names, "allowed")));
  }

  std::string read_name(const ConfigNode& node) const {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z'); };
    const auto allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
    const std::string& text = node.text;
    if (node.kind != Kind::kScalar || text.empty() || text.size() > kMaxNameLength || !is_letter(text[0]) ||
        !std::ranges::all_of(text, allowed)) {
      refuse("name", node,
             fmt::format("1 to {} lower-case letters, digits and '_', a letter first", kMaxNameLength));
    }
    if (std::ranges::count(Registry<TaskEntry>::instance().names(), text) > 0) {
      throw config_error(node.location, "name",
                         fmt::format("'{0}' is a built-in task; choose another name, such as my_{0}", text));
    }
    return text;
  }

  std::int64_t read_version(const ConfigNode& node) const {
    const auto number = node.kind == Kind::kScalar && !node.quoted ? parse_integer(node.text) : std::nullopt;
    if (!number || *number < 1 || *number > kMaxVersion)
      refuse("version", node, allowed_integers(1, kMaxVersion));
    return *number;
  }

  std::string line(std::string_view key) const {
    const ConfigNode* const node = find(key);
    if (node == nullptr) return "";
    if (node->kind != Kind::kScalar || node->text.empty() || node->text.size() > kMaxLineLength ||
        one_line(node->text, kWholeText) != node->text) {
      refuse(key, *node, fmt::format("one line of at most {} bytes", kMaxLineLength));
    }
    return node->text;
  }

  // A list of one-character symbols, at most kMaxSymbols.
  std::string symbols(std::string_view key, const ConfigNode& node) const {
    constexpr std::string_view kAllowed = "printable ASCII characters, each once, such as [a, b]";
    if (node.kind != Kind::kSequence) refuse(key, node, fmt::format("a list of {}", kAllowed));
    std::string symbols;
    for (const ConfigNode& item : node.items) {
      const bool is_symbol =
          item.kind == Kind::kScalar && item.text.size() == 1 && item.text[0] > ' ' && item.text[0] <= '~';
      if (!is_symbol) refuse(key, item, kAllowed);
      if (symbols.find(item.text[0]) != std::string::npos) {
        throw config_error(item.location, key,
                           fmt::format("'{}' is listed twice; allowed: {}", item.text, kAllowed));
      }
      symbols += item.text[0];
    }
    return symbols;
  }

  // Reads the file that `node` names and returns what `parse` makes of its text and origin.
  template <class Parse>
  auto parse_named(std::string_view key, const ConfigNode& node, const Parse& parse) const {
    if (folder_.empty()) {
      throw config_error(node.location, key,
                         fmt::format("got {}; allowed: the text itself; a stored definition names no files",
                                     short_text(node)));
    }
    const std::filesystem::path file = folder_ / node.text;
    const std::string name = one_line(file.string(), kWholeText);
    std::string text;
    try {
      std::error_code ignored;
      if (std::filesystem::is_fifo(file, ignored)) {
        throw Error(fmt::format("cannot read '{}': it is a FIFO, not a regular file", name));
      }
      text = read_input_file(file, kMaxFileBytes);
    } catch (const Error& error) {
      throw Error(config_error(node.location, key, error.what()).what(), error.kind());
    }
    const ConfigLocation origin{std::make_shared<const std::string>(name), 1, 0};
    if (lies_in(file, folder_)) return parse(text, origin);
    try {
      return parse(text, origin);
    } catch (const Error&) {
      // A task that somebody else wrote must not print any file of this machine.
      throw config_error(node.location, key,
                         fmt::format("'{}' does not fit, and what it holds is not shown, as it lies outside "
                                     "the task's folder; copy it there",
                                     name));
    }
  }

  std::string input_symbols() const {
    const ConfigNode& node =
        require("symbols", "the input symbols in the order of the one-hot, such as [a, b]");
    std::string found;
    if (node.kind == Kind::kScalar) {
      std::error_code ignored;
      const bool is_word = !node.text.empty() && node.text.find_first_of("./") == std::string::npos;
      if (is_word && !std::filesystem::exists(folder_ / node.text, ignored)) {
        const std::string list = fmt::format("{}", fmt::join(node.text, ", "));
        refuse("symbols", node,
               fmt::format("a list, such as [{}], or the file of a symbol table", one_line(list)));
      }
      found = parse_named("symbols", node, parse_symbol_table);
    } else {
      found = symbols("symbols", node);
    }
    if (found.size() < 2) {
      throw config_error(node.location, "symbols",
                         fmt::format("got {}; allowed: 2 or more", count_text(found.size())));
    }
    return found;
  }

  void read_automaton() {
    const ConfigNode& node = require("automaton", "a file in AT&T's format, or a group in its place");
    if (find("generators") != nullptr) fail("generators", "stands next to 'group' only");
    if (node.kind != Kind::kScalar || node.text.empty())
      refuse("automaton", node, "a file in AT&T's format, or its text behind '|'");
    const std::string symbols_in = input_symbols();
    std::string outputs;
    if (is_transducer(definition_.answer)) {
      outputs = symbols("outputs", require("outputs", "the transducer's output symbols, such as [0, 1]"));
    }
    if (is_inline(node.text)) {
      // The text begins below the key.
      const ConfigLocation origin{node.location.source, root_.find("automaton")->location.line + 1, 0};
      definition_.automaton = parse_att_text(node.text, origin, symbols_in, outputs);
      return;
    }
    definition_.automaton =
        parse_named("automaton", node, [&](std::string_view text, const ConfigLocation& origin) {
          return parse_att_text(text, origin, symbols_in, outputs);
        });
  }

  // Whether it is an automaton's text and not the name of its file: a text of one line begins with a state.
  static bool is_inline(std::string_view text) {
    if (text.find('\n') != std::string_view::npos) return true;
    const std::string_view first = text.substr(0, text.find_first_of(" \t"));
    return !first.empty() && first.find_first_not_of("0123456789") == std::string_view::npos;
  }

  void read_group() {
    if (find("automaton") != nullptr) fail("automaton", "stands next to 'group'; keep one of them");
    if (is_transducer(definition_.answer))
      fail("answer", "a group has no outputs; allowed: accept, last_state, states");
    const ConfigNode& node = *find("group");
    if (node.kind != Kind::kScalar) refuse("group", node, "a name, such as S5");
    FiniteGroup group;
    try {
      group = find_group(node.text);
    } catch (const Error& error) {
      throw config_error(node.location, "group", error.what());
    }
    if (group.order() < 2) refuse("group", node, "a group with two elements or more");
    definition_.group = group_name(node.text);
    const std::vector<std::size_t> generators = read_generators(group);
    name_group_symbols(generators.size());
    set_group_automaton(group, generators);
  }

  std::vector<std::size_t> read_generators(const FiniteGroup& group) {
    const ConfigNode& node = require("generators", "all, or a list of elements");
    std::vector<std::size_t> generators;
    if (node.kind == Kind::kScalar && node.text == "all") {
      for (std::size_t element = 0; element < group.order(); ++element) generators.push_back(element);
    } else {
      const std::string allowed =
          fmt::format("all, or a list of elements of {}, such as [{}, {}]", definition_.group,
                      short_text(scalar(group.elements[0])), short_text(scalar(group.elements[1])));
      if (node.kind != Kind::kSequence) refuse("generators", node, allowed);
      for (const ConfigNode& item : node.items) {
        const auto found = std::ranges::find(group.elements, item.text);
        if (item.kind != Kind::kScalar || found == group.elements.end()) refuse("generators", item, allowed);
        const auto element = static_cast<std::size_t>(found - group.elements.begin());
        if (std::ranges::count(generators, element) > 0) {
          throw config_error(item.location, "generators",
                             fmt::format("{} is listed twice; keep one of them", item.text));
        }
        generators.push_back(element);
        definition_.generators.push_back(item.text);
      }
    }
    if (generators.size() >= 2 && generators.size() <= kMaxSymbols) return generators;
    throw config_error(node.location, "generators",
                       fmt::format("got {}; allowed: 2 to {}", count_text(generators.size()), kMaxSymbols));
  }

  static ConfigNode scalar(const std::string& text) {
    return {
        .kind = Kind::kScalar, .text = text, .quoted = text.find(',') != std::string::npos, .entries = {}};
  }

  void name_group_symbols(std::size_t count) {
    const ConfigNode* const node = find("symbols");
    std::string& named = definition_.automaton.symbols;
    named = node == nullptr ? default_symbols(count) : symbols("symbols", *node);
    if (named.size() != count) {
      throw config_error(
          node->location, "symbols",
          fmt::format("got {}; allowed: one for each of the {} generators", count_text(named.size()), count));
    }
  }

  void set_group_automaton(const FiniteGroup& group, const std::vector<std::size_t>& generators) {
    FiniteAutomaton& automaton = definition_.automaton;
    automaton.accepting.assign(group.order(), 0);
    automaton.accepting[0] = 1;
    for (std::size_t element = 0; element < group.order(); ++element) {
      automaton.numbers.push_back(static_cast<std::int64_t>(element));
      for (const std::size_t generator : generators) {
        automaton.next.push_back(static_cast<std::int32_t>(group.product(element, generator)));
      }
    }
  }

  void name_outputs() {
    const ConfigNode* const node = find("outputs");
    const FiniteAutomaton& automaton = definition_.automaton;
    if (definition_.answer == AnswerKind::kAccept) {
      if (node != nullptr) fail("outputs", "answer 'accept' has the outputs 0 and 1; take this line out");
      definition_.outputs = "01";
      return;
    }
    if (is_transducer(definition_.answer)) {
      definition_.outputs = symbols("outputs", *node);
    } else {
      // A walk never enters the sink.
      const bool has_sink = automaton.sink && definition_.sampling != InputSampling::kWalk;
      const std::size_t states = automaton.numbers.size() + (has_sink ? 1 : 0);
      if (states > kMaxSymbols) {
        fail("answer", fmt::format("{} states are too many symbols to answer with; allowed: up to {}", states,
                                   kMaxSymbols));
      }
      definition_.outputs = node == nullptr ? default_symbols(states) : symbols("outputs", *node);
      if (definition_.outputs.size() != states) {
        fail("outputs",
             fmt::format("got {}; allowed: one for each of the {} states by number{}",
                         count_text(definition_.outputs.size()), states,
                         has_sink ? ", the last for the sink that missing transitions lead to" : ""));
      }
    }
    if (definition_.outputs.size() < 2) {
      fail("outputs", definition_.outputs.empty() ? "got an empty list; allowed: 2 or more"
                                                  : "there is only one possible answer; allowed: 2 or more");
    }
  }

  void check_sampling() const {
    const FiniteAutomaton& automaton = definition_.automaton;
    if (definition_.sampling == InputSampling::kBalanced && definition_.answer != AnswerKind::kAccept) {
      fail("sample", "'balanced' balances accepted and rejected inputs; allowed with answer 'accept' only");
    }
    const std::vector<std::uint8_t> reached = automaton.reachable();
    for (std::size_t state = 0; state < automaton.numbers.size(); ++state) {
      if (reached[state] == 0) continue;
      std::size_t missing = 0;
      std::size_t first = 0;
      for (std::size_t symbol = automaton.symbols.size(); symbol-- > 0;) {
        if (automaton.step(static_cast<std::int32_t>(state), symbol) != automaton.sink) continue;
        ++missing;
        first = symbol;
      }
      if (definition_.sampling == InputSampling::kWalk) {
        if (missing < automaton.symbols.size()) continue;
        fail("automaton", fmt::format("state {} has no transition, so that a walk ends there; allowed with "
                                      "sample 'walk': automata that go on from every state",
                                      automaton.numbers[state]));
      } else if (is_transducer(definition_.answer) && missing > 0) {
        fail("automaton",
             fmt::format("state {} has no transition for '{}' and so no output; add it, or use sample 'walk'",
                         automaton.numbers[state], automaton.symbols[first]));
      }
    }
  }

  // A task with one answer to every input is a mistake.
  void check_answer_varies() const {
    if (definition_.answer != AnswerKind::kAccept) return;
    const FiniteAutomaton& automaton = definition_.automaton;
    const std::vector<std::uint8_t> reached = automaton.reachable();
    bool accepts = false;
    bool rejects = false;
    for (std::size_t state = 0; state < automaton.states(); ++state) {
      const bool walks_past =
          definition_.sampling == InputSampling::kWalk && static_cast<std::int32_t>(state) == automaton.sink;
      if (reached[state] == 0 || walks_past) continue;
      (automaton.accepting[state] != 0 ? accepts : rejects) = true;
    }
    const std::string_view place = definition_.group.empty() ? "automaton" : "group";
    if (!accepts) fail(place, "accepts no input; is the line of a final state missing?");
    if (!rejects)
      fail(place,
           "accepts every input that is drawn; allowed with answer 'accept': automata that reject some");
  }

  const ConfigNode& root_;
  std::filesystem::path folder_;
  TaskDefinition definition_;
};

}  // namespace

TaskDefinition read_definition(const ConfigNode& root, const std::filesystem::path& folder) {
  return DefinitionReader(root, folder).read();
}

}  // namespace che
