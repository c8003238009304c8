#include "tasks/declared/task_definition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "core/hashes.h"
#include "tasks/declared/finite_automaton.h"
#include "tasks/declared/task_files.h"

namespace che {
namespace {

// A list of YAML in one line.
std::string yaml_list(std::string_view symbols) {
  std::vector<std::string> quoted;
  for (const char c : symbols)
    quoted.push_back(fmt::format("\"{}{}\"", c == '"' || c == '\\' ? "\\" : "", c));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

bool is_ascii(std::string_view symbols) {
  return std::ranges::all_of(symbols, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string TaskDefinition::canonical() const {
  std::string text = fmt::format("name: {}\nversion: {}\nlevel: {}\nanswer: {}\nsample: {}\n", name, version,
                                 level_name(level), word_of(kAnswers, answer), word_of(kSamplings, sampling));
  // Names beyond ASCII are those that the program gives.
  if (is_ascii(automaton.symbols)) text += fmt::format("symbols: {}\n", yaml_list(automaton.symbols));
  if (answer != AnswerKind::kAccept && is_ascii(outputs))
    text += fmt::format("outputs: {}\n", yaml_list(outputs));
  if (group.empty()) {
    text += "automaton: |\n";
    const std::string lines = att_text(automaton, is_transducer(answer) ? outputs : "");
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = lines.find('\n', at) + 1;
      text += "  " + lines.substr(at, end - at);
      at = end;
    }
    return text;
  }
  text += fmt::format("group: {}\n", group);
  if (generators.empty()) return text + "generators: all\n";
  std::vector<std::string> quoted;
  for (const std::string& generator : generators) quoted.push_back('"' + generator + '"');
  return text + fmt::format("generators: [{}]\n", fmt::join(quoted, ", "));
}

std::string definition_digest(std::string_view canonical) { return sha256(canonical).substr(0, 16); }

bool is_task_file(std::string_view word) { return word.ends_with(".yaml") || word.ends_with(".yml"); }

TaskDefinition parse_task_definition(std::string_view text, const std::string& source,
                                     const std::filesystem::path& folder) {
  const ConfigNode root = parse_config(text, source);
  if (root.kind != ConfigNode::Kind::kMap) {
    throw config_error(root.location, "",
                       fmt::format("got {}; a task is a map (key: value)", short_text(root)));
  }
  return read_definition(root, folder);
}

TaskDefinition read_task_file(const std::filesystem::path& path) {
  if (!is_present(path)) {
    if (const std::string file = closest_task_file(path); !file.empty()) {
      throw Error(fmt::format("{}: no such file; did you mean '{}'?", path.string(), file));
    }
  }
  const ConfigNode root = read_config_file(path);
  const std::filesystem::path folder = path.parent_path();
  return read_definition(root, folder.empty() ? "." : folder);
}

}  // namespace che
