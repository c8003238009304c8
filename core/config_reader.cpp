#include "core/config_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "core/field_text.h"
#include "core/suggestion.h"

namespace che {
namespace {

using Kind = ConfigNode::Kind;

// Visits one level of a struct. At the level of a map it sets what the map names; above the end of a
// key path it goes down to the path's next part and carries the value on.
class Reader : public FieldVisitor {
 public:
  Reader(const ConfigNode& value, std::span<const std::string> path, std::string prefix)
      : value_(value), path_(path), prefix_(std::move(prefix)) {}

  void integer(const Field& field, std::int64_t& value, std::int64_t min, std::int64_t max) override {
    const ConfigNode* const node = find_leaf(field);
    if (!node) return;
    const auto number = is_plain(*node) ? parse_integer(node->text) : std::nullopt;
    if (!number || *number < min || *number > max) refuse(*node, field, allowed_integers(min, max));
    value = *number;
  }

  void real(const Field& field, double& value, double min, double max) override {
    const ConfigNode* const node = find_leaf(field);
    if (!node) return;
    const auto number = is_plain(*node) ? parse_real(node->text) : std::nullopt;
    if (!number || !(*number >= min && *number <= max)) refuse(*node, field, allowed_reals(min, max));
    value = *number;
  }

  void choice(const Field& field, std::string& value, const std::vector<std::string>& allowed) override {
    const ConfigNode* const node = find_leaf(field);
    if (!node) return;
    if (node->kind != Kind::kScalar || !std::ranges::count(allowed, node->text)) {
      const std::string closest = closest_name(node->text, allowed);
      const std::string hint = closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest);
      throw config_error(
          node->location, path_of(field),
          fmt::format("got {}{}; allowed: {}", short_text(*node), hint, fmt::join(allowed, ", ")));
    }
    value = node->text;
  }

  void group(const Field& field, const Members& members) override {
    const auto target = find(field);
    if (!target) return;
    if (target->rest.empty()) check_map(*target->value, field);
    descend(*target, field, members);
  }

  void optional_group(const Field& field, bool& present, const Members& members) override {
    const auto target = find(field);
    if (!target) return;
    if (target->rest.empty()) {
      check_map(*target->value, field);
      present = true;
    } else if (!present) {
      throw config_error(target->value->location, path_of(field) + "." + target->rest.front(),
                         fmt::format("there is no {0}; set {1} to a map first, {{}} for its defaults",
                                     field.name, path_of(field)));
    }
    descend(*target, field, members);
  }

  void component(const Field& field, const std::function<void(std::string_view)>& reset,
                 const Members& members) override {
    const auto target = find(field);
    if (!target) return;
    const ConfigNode& node = *target->value;
    if (target->rest.empty()) {
      if (node.kind != Kind::kScalar && node.kind != Kind::kMap)
        refuse(node, field, "a name, or a map with one");
      if (node.kind == Kind::kScalar && node.text.empty()) refuse(node, field, "a name that is not empty");
      if (node.kind == Kind::kMap) check_has_name(node, field);
      try {
        // The error may quote the name.
        reset(node.kind == Kind::kScalar ? one_line(node.text) : "");
      } catch (const Error& error) {
        throw config_error(node.location, path_of(field), error.what());
      }
      if (node.kind == Kind::kScalar) return;
    }
    descend(*target, field, members);
  }

  void role(Role) override {}

  // After the visit: throws for what no field has taken.
  void check_all_taken() const {
    if (!path_.empty()) {
      check_known(path_.front(), value_.location);
      return;
    }
    for (const ConfigEntry& entry : value_.entries) check_known(entry.key, entry.location);
  }

 private:
  struct Target {
    const ConfigNode* value;
    std::span<const std::string> rest;  // Of the key path, below the field.
  };

  static bool is_plain(const ConfigNode& node) { return node.kind == Kind::kScalar && !node.quoted; }

  std::string path_of(const Field& field) const { return prefix_ + std::string(field.name); }

  std::optional<Target> find(const Field& field) {
    known_.emplace_back(field.name);
    if (!path_.empty()) {
      if (path_.front() != field.name) return std::nullopt;
      return Target{&value_, path_.subspan(1)};
    }
    const ConfigEntry* const entry = value_.find(field.name);
    if (!entry) return std::nullopt;
    return Target{&entry->value, {}};
  }

  // The value for a field without parts.
  const ConfigNode* find_leaf(const Field& field) {
    const auto target = find(field);
    if (!target) return nullptr;
    if (!target->rest.empty()) {
      throw config_error(target->value->location, fmt::format("{}.{}", path_of(field), target->rest.front()),
                         fmt::format("unknown key; {} is a single value", path_of(field)));
    }
    return target->value;
  }

  void descend(const Target& target, const Field& field, const Members& members) const {
    Reader nested(*target.value, target.rest, path_of(field) + ".");
    members(nested);
    nested.check_all_taken();
  }

  [[noreturn]] void refuse(const ConfigNode& node, const Field& field, std::string_view allowed) const {
    throw config_error(node.location, path_of(field),
                       fmt::format("got {}; allowed: {}", short_text(node), allowed));
  }

  void check_map(const ConfigNode& node, const Field& field) const {
    if (node.kind != Kind::kMap) refuse(node, field, "a map of settings, {} for none");
  }

  void check_has_name(const ConfigNode& map, const Field& field) const {
    if (map.find("name")) return;
    for (const ConfigEntry& entry : map.entries) {
      if (closest_name(entry.key, {"name"}).empty()) continue;
      throw config_error(entry.location, path_of(field) + "." + entry.key,
                         "unknown key; did you mean 'name'?");
    }
    throw config_error(
        map.location, path_of(field),
        fmt::format("'name' is missing; allowed: a name, or a map with one ({}: {{name: ...}})", field.name));
  }

  void check_known(const std::string& key, const ConfigLocation& location) const {
    if (std::ranges::count(known_, key)) return;
    throw config_error(location, prefix_ + key, "unknown key" + known_names_hint(key, known_));
  }

  const ConfigNode& value_;
  std::span<const std::string> path_;
  std::string prefix_;
  std::vector<std::string> known_;
};

}  // namespace

void assign_fields(const ConfigNode& map, const FieldVisitor::Members& members, std::string_view prefix) {
  if (map.kind != Kind::kMap) {
    throw config_error(map.location, prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1),
                       fmt::format("got {}; allowed: a map of settings", short_text(map)));
  }
  Reader reader(map, {}, std::string(prefix));
  members(reader);
  reader.check_all_taken();
}

void assign_path(std::string_view path, const ConfigNode& value, const FieldVisitor::Members& members) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t dot = path.find('.');
    parts.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  Reader reader(value, parts, "");
  members(reader);
  reader.check_all_taken();
}

void check_keys(const ConfigNode& node, std::string_view path, const std::vector<std::string>& known) {
  if (node.kind != Kind::kMap) {
    throw config_error(node.location, path, fmt::format("got {}; allowed: a map", short_text(node)));
  }
  for (const ConfigEntry& entry : node.entries) {
    if (std::ranges::count(known, entry.key)) continue;
    throw config_error(entry.location, std::string(path) + (path.empty() ? "" : ".") + entry.key,
                       "unknown key" + known_names_hint(entry.key, known));
  }
}

}  // namespace che
