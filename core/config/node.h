#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace che {

// Where a part of a config stands. Lines and columns count from 1; 0 where there are none.
struct ConfigLocation {
  std::shared_ptr<const std::string> source{};  // A file's path, or "command line".
  int line = 0;
  int column = 0;
};

struct ConfigEntry;

// A YAML value, as it was written: scalars stay text, keys keep their order.
struct ConfigNode {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  ConfigLocation location{};
  std::string text{};                // A scalar has one.
  bool quoted = false;               // Whether the scalar is a string by its quotes.
  std::vector<ConfigNode> items{};   // A sequence has them.
  std::vector<ConfigEntry> entries;  // A map has them; no key twice.
  // If a reader replaced a value by this node, the text of that value, such as {file: my_task.yaml}. Messages
  // show it.
  std::string written{};

  // Null where the map has no such key.
  const ConfigEntry* find(std::string_view key) const;
};

struct ConfigEntry {
  std::string key;
  ConfigLocation location{};  // Where the key stands.
  ConfigNode value{};
};

// A value for a key path.
struct Setting {
  std::string path;
  ConfigNode value;
};

// Parses one YAML document of at most 1 MiB: maps with text keys, lists, scalars, null. Throws Error
// (usage) with `source`, line and column for bad syntax or encoding, a duplicate key, and what
// configs do without: anchors, tags, several documents, more than 64 levels.
ConfigNode parse_config(std::string_view text, const std::string& source);

// Parses a file in the same way; it must hold a map.
ConfigNode read_config_file(const std::filesystem::path& path);

// Reads "key=value" from a command line, the value in YAML. Throws Error (usage) as parse_config does, and
// for a byte order mark; `example` is for its message.
Setting parse_setting(std::string_view text, std::string_view example);

// The error at `location`: "configs/x.yaml:12: training.steps: problem". `path` may be empty.
Error config_error(const ConfigLocation& location, std::string_view path, std::string_view problem);

// The value in one line of YAML, cut when it is long: what error messages show.
std::string short_text(const ConfigNode& node);

// Bytes that an error quotes of what a damaged file holds.
inline constexpr std::size_t kMaxProblem = 400;

}  // namespace che
