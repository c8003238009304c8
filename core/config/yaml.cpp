#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/config/node.h"
#include "core/files.h"
#include "core/text.h"

namespace che {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxDepth = 64;

using Kind = ConfigNode::Kind;

constexpr std::string_view kBadKey =
    "a key must be text, not null, a list or a map; is a bracket or a brace left open?";

// Builds a tree from yaml-cpp's events. It refuses depth as the parser goes down, so that the
// parser's own recursion stays shallow.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::shared_ptr<const std::string> source) : source_(std::move(source)) {}

  ConfigNode take_root() { return std::move(root_); }

  ConfigLocation location_of(const YAML::Mark& mark) const {
    return {source_, mark.line + 1, mark.column + 1};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0)
      throw config_error(location_of(mark), "", "multiple YAML documents; a config must be exactly one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add_value(make_node(Kind::kNull, mark, "", anchor));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_anchor(mark); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool expects_key = !open_.empty() && open_.back().node.kind == Kind::kMap && !open_.back().has_key;
    // yaml-cpp gives "!" as the tag of quoted scalars.
    ConfigNode node = make_node(Kind::kScalar, mark, tag == "!" ? "" : tag, anchor);
    node.text = value;
    node.quoted = tag == "!";
    if (expects_key) {
      add_key(std::move(node));
    } else {
      add_value(std::move(node));
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make_node(Kind::kSequence, mark, tag, anchor));
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make_node(Kind::kMap, mark, tag, anchor));
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or a map that is being read, and the map's key that waits for its value.
  struct Open {
    ConfigNode node;
    bool has_key = false;
    ConfigEntry entry{};
    std::map<std::string, int> key_lines{};
  };

  [[noreturn]] void refuse_anchor(const YAML::Mark& mark) const {
    throw config_error(location_of(mark), "",
                       "anchors and aliases (&, *) are not supported; write the value out");
  }

  ConfigNode make_node(Kind kind, const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor) const {
    if (anchor != 0) refuse_anchor(mark);
    if (!tag.empty() && tag != "?") {
      throw config_error(location_of(mark), "", fmt::format("tags ({}) are not supported", one_line(tag)));
    }
    ConfigNode node;
    node.kind = kind;
    node.location = location_of(mark);
    return node;
  }

  void add_key(ConfigNode key) {
    Open& map = open_.back();
    const auto [first, is_new] = map.key_lines.emplace(key.text, key.location.line);
    if (!is_new) {
      throw config_error(key.location, path() + key.text,
                         fmt::format("duplicate key; first set in line {}", first->second));
    }
    map.entry.key = std::move(key.text);
    map.entry.location = key.location;
    map.has_key = true;
  }

  void add_value(ConfigNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Kind::kSequence) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    if (!parent.has_key) throw config_error(node.location, path(), kBadKey);
    // yaml-cpp marks an empty value at whatever follows it.
    if (node.kind == Kind::kNull) node.location = parent.entry.location;
    parent.entry.value = std::move(node);
    parent.node.entries.push_back(std::move(parent.entry));
    parent.has_key = false;
  }

  void open(ConfigNode node) {
    if (open_.size() == kMaxDepth) {
      throw config_error(node.location, "", fmt::format("nested deeper than {} levels", kMaxDepth));
    }
    if (!open_.empty() && open_.back().node.kind == Kind::kMap && !open_.back().has_key) {
      throw config_error(node.location, path(), kBadKey);
    }
    open_.push_back({.node = std::move(node)});
  }

  void close() {
    ConfigNode node = std::move(open_.back().node);
    open_.pop_back();
    add_value(std::move(node));
  }

  // The key path of the map that is being read, with a final dot.
  std::string path() const {
    std::string path;
    for (const Open& level : open_) {
      if (level.has_key) path += level.entry.key + ".";
    }
    return path;
  }

  std::shared_ptr<const std::string> source_;
  ConfigNode root_;
  std::vector<Open> open_;
  int documents_ = 0;
};

void check_is_text(std::string_view text, const std::shared_ptr<const std::string>& source) {
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t bytes = utf8_character_bytes(text.substr(i));
    const bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
    if (bytes == 0 || control) {
      throw config_error({source, line, 0}, "",
                         fmt::format("byte 0x{:02x} is no text; a config is YAML in UTF-8", c));
    }
    if (c == '\n') ++line;
    i += bytes;
  }
}

// A hint for bad syntax in this line (from 1) or the one before it, which yaml-cpp may name instead.
std::string_view syntax_hint(std::string_view text, int line) {
  int number = 1;
  for (std::size_t start = 0; number <= line;) {
    const std::string_view rest = text.substr(start);
    const std::string_view indentation = rest.substr(0, rest.find_first_not_of(" \t"));
    if (number + 1 >= line && indentation.find('\t') != std::string_view::npos) {
      return "; YAML is indented by spaces, and there is a tab";
    }
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    start += end + 1;
    ++number;
  }
  return "";
}

}  // namespace

ConfigNode parse_config(std::string_view text, const std::string& source) {
  const auto shared_source = std::make_shared<const std::string>(one_line(source, std::string_view::npos));
  if (text.size() > kMaxBytes) {
    throw config_error({shared_source}, "",
                       fmt::format("longer than {} bytes, the most a config may have", kMaxBytes));
  }
  check_is_text(text, shared_source);
  TreeBuilder builder(shared_source);
  // At a final line break, yaml-cpp would take an open quote for a closed one.
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    ConfigLocation location = builder.location_of(error.mark);
    if (error.mark.is_null()) location.line = 0;
    throw config_error(location, "",
                       fmt::format("column {}: not valid YAML: {}{}", location.column, one_line(error.msg),
                                   syntax_hint(text, location.line)));
  }
  ConfigNode root = builder.take_root();
  if (!root.location.source) root.location = {shared_source, 0, 0};
  return root;
}

ConfigNode read_config_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  const auto source = std::make_shared<const std::string>(one_line(path.string(), std::string_view::npos));
  const auto refuse = [&](std::string_view problem) { throw config_error({source}, "", problem); };
  if (status.type() == std::filesystem::file_type::not_found) refuse("no such file");
  if (error) refuse(fmt::format("cannot be read: {}", error.message()));
  if (std::filesystem::is_directory(status)) refuse("is a folder; a config is a YAML file");
  const bool regular = std::filesystem::is_regular_file(status);
  if (!regular && !std::filesystem::is_fifo(status)) refuse("is no file; a config is a YAML file");
  if (regular && std::filesystem::file_size(path, error) > kMaxBytes && !error) {
    refuse(fmt::format("longer than {} bytes, the most a config may have", kMaxBytes));
  }
  ConfigNode root = parse_config(read_input_file(path, kMaxBytes), path.string());
  if (root.kind == Kind::kNull) refuse("holds no settings");
  if (root.kind != Kind::kMap) {
    throw config_error(root.location, "",
                       fmt::format("got {}; a config is a map (key: value)", short_text(root)));
  }
  return root;
}

}  // namespace che
