#include "core/config/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "core/config/field_list.h"
#include "core/number_text.h"
#include "core/suggestion.h"

namespace che {
namespace {

using Kind = ConfigNode::Kind;

// Visits one level of a struct. At the level of a map it sets what the map names; above the end of a
// key path it goes down to the path's next part and carries the value on.
class Reader : public FieldVisitor {
 public:
  // `shown` of the characters of `prefix` belong to messages only.
  // `root` visits everything, for hints.
  Reader(const ConfigNode& value, std::span<const std::string> path, std::string prefix, std::size_t shown,
         WrittenPaths& written, const Members& root)
      : value_(value),
        path_(path),
        prefix_(std::move(prefix)),
        shown_(shown),
        written_(written),
        root_(root) {}

  void integer(const Field& field, std::int64_t& value, std::int64_t min, std::int64_t max) override {
    const ConfigNode* const node = find_leaf(field);
    if (!node) return;
    if (!field.zero_word.empty() && node->kind == Kind::kScalar && node->text == field.zero_word) {
      value = 0;
    } else {
      const std::string word = field.zero_word.empty() ? "" : fmt::format("{}, ", field.zero_word);
      value = integer_in(*node, field, min, max, word + allowed_integers(min, max));
    }
    note_field(field);
  }

  void real(const Field& field, double& value, double min, double max) override {
    const ConfigNode* const node = find_leaf(field);
    if (!node) return;
    const auto number = is_plain(*node) ? parse_real(node->text) : std::nullopt;
    if (!number || !(*number >= min && *number <= max)) refuse(*node, field, allowed_reals(min, max));
    value = *number + 0.0;  // A negative zero becomes zero.
    note_field(field);
  }

  void choice(const Field& field, std::string& value, const std::vector<std::string>& allowed) override {
    const ConfigNode* const node = find_leaf(field);
    if (!node) return;
    if (node->kind != Kind::kScalar || !std::ranges::count(allowed, node->text)) {
      throw config_error(
          node->location, path_of(field),
          fmt::format("got {}{}", short_text(*node), known_names_hint(node->text, allowed, "allowed")));
    }
    value = node->text;
    note_field(field);
  }

  void boolean(const Field& field, bool& value) override {
    const ConfigNode* const node = find_leaf(field);
    if (!node) return;
    if (!is_plain(*node) || (node->text != "true" && node->text != "false")) {
      refuse(*node, field, "true, false");
    }
    value = node->text == "true";
    note_field(field);
  }

  void text(const Field& field, std::string& value, const Accept& accept) override {
    const ConfigNode* const node = find_leaf(field);
    // Hints name what every config has.
    if (!known_.empty() && known_.back() == field.name) {
      known_.pop_back();
      unnamed_.emplace_back(field.name);
    }
    if (!node) return;
    if (node->kind != Kind::kScalar || node->text.empty()) refuse(*node, field, "a text that is not empty");
    try {
      value = accept(node->text);
    } catch (const Error& error) {
      throw config_error(node->location, path_of(field), error.what());
    }
    note_field(field);
  }

  void integer_list(const Field& field, std::vector<std::int64_t>& values, std::int64_t min,
                    std::int64_t max) override {
    const ConfigNode* const node = find_leaf(field);
    if (!node) return;
    const std::string allowed = fmt::format("a list of {}", allowed_integers(min, max));
    if (node->kind != Kind::kSequence) refuse(*node, field, allowed);
    if (node->items.size() > kMostListedNumbers) {
      throw config_error(node->location, path_of(field),
                         fmt::format("got {} numbers; allowed: a list of at most {}", node->items.size(),
                                     kMostListedNumbers));
    }
    std::vector<std::int64_t> read;
    for (const ConfigNode& item : node->items) {
      const std::int64_t number = integer_in(item, field, min, max, allowed);
      if (std::ranges::count(read, number)) {
        throw config_error(item.location, path_of(field),
                           fmt::format("{} is listed twice; keep one of them", number));
      }
      read.push_back(number);
    }
    values = std::move(read);
    note_field(field);
    if (values.empty()) return;
    for (const std::string_view replaced : field.replaces) {
      written_.push_back((prefix_ + std::string(replaced)).substr(shown_));
    }
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
      const std::string problem =
          field.when_absent.empty()
              ? fmt::format("there is no {}; set {} to a map first, {{}} for its defaults", field.name,
                            path_of(field))
              : std::string(field.when_absent);
      throw config_error(target->value->location, path_of(field) + "." + target->rest.front(), problem);
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
      if (node.kind == Kind::kScalar) {
        note_component(field, node, reset, members);
        return;
      }
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
    std::span<const std::string> rest;  // The part of the key path below the field.
  };

  static bool is_plain(const ConfigNode& node) { return node.kind == Kind::kScalar && !node.quoted; }

  std::string path_of(const Field& field) const { return prefix_ + std::string(field.name); }

  void note_field(const Field& field) const { written_.push_back(path_of(field).substr(shown_)); }

  // Notes the fields that a component's shorthand sets besides the name.
  void note_component(const Field& field, const ConfigNode& node,
                      const std::function<void(std::string_view)>& reset, const Members& members) const {
    const std::string prefix = (path_of(field) + ".").substr(shown_);
    const std::vector<FieldRecord> now = list_fields(members);
    const auto name = std::ranges::find(now, field.named_by, &FieldRecord::path);
    if (name == now.end() || name->value == node.text) {
      written_.push_back(prefix + std::string(field.named_by));
      return;
    }
    reset(name->value);
    const std::vector<FieldRecord> plain = list_fields(members);
    for (const FieldRecord& record : now) {
      const auto same = std::ranges::find(plain, record.path, &FieldRecord::path);
      if (record.path == field.named_by || (same != plain.end() && same->value != record.value)) {
        written_.push_back(prefix + record.path);
      }
    }
    reset(node.text);
  }

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
    if (!field.replaced_by.empty()) {
      const std::string list = prefix_ + std::string(field.replaced_by);
      throw config_error(target->value->location, path_of(field),
                         fmt::format("{0} is a list that takes the place of this key; keep one of them, or "
                                     "empty the list of another source with {0}: []",
                                     list));
    }
    return target->value;
  }

  void descend(const Target& target, const Field& field, const Members& members) const {
    Reader nested(*target.value, target.rest, path_of(field) + ".", shown_, written_, root_);
    members(nested);
    nested.check_all_taken();
  }

  std::int64_t integer_in(const ConfigNode& node, const Field& field, std::int64_t min, std::int64_t max,
                          std::string_view allowed) const {
    const auto number = is_plain(node) ? parse_integer(node.text) : std::nullopt;
    if (!number || *number < min || *number > max) {
      refuse(node, field, std::string(allowed) + digits_hint(node, min, max));
    }
    return *number;
  }

  // A hint for a whole number in another form, such as 1e3 or 64.0.
  static std::string digits_hint(const ConfigNode& node, std::int64_t min, std::int64_t max) {
    if (!is_plain(node) || node.text.find_first_of(".eE") == std::string::npos) return "";
    const std::optional<double> real = parse_real(node.text);
    constexpr double kExact = 1LL << 53;
    if (!real || std::trunc(*real) != *real || std::abs(*real) > kExact) return "";
    const auto number = static_cast<std::int64_t>(*real);
    return number < min || number > max ? "" : fmt::format(", in digits only: {}", number);
  }

  [[noreturn]] void refuse(const ConfigNode& node, const Field& field, std::string_view allowed) const {
    throw config_error(node.location, path_of(field),
                       fmt::format("got {}; allowed: {}", short_text(node), allowed));
  }

  void check_map(const ConfigNode& node, const Field& field) const {
    if (node.kind != Kind::kMap) refuse(node, field, "a map of settings, {} for none");
  }

  void check_has_name(const ConfigNode& map, const Field& field) const {
    if (map.find(field.named_by)) return;
    for (const ConfigEntry& entry : map.entries) {
      if (closest_name(entry.key, {std::string(field.named_by)}).empty()) continue;
      throw config_error(entry.location, path_of(field) + "." + entry.key,
                         fmt::format("unknown key; did you mean '{}'?", field.named_by));
    }
    throw config_error(map.location, path_of(field),
                       fmt::format("'{0}' is missing; allowed: a name, or a map with one ({1}: {{{0}: ...}})",
                                   field.named_by, field.name));
  }

  void check_known(const std::string& key, const ConfigLocation& location) const {
    if (std::ranges::count(known_, key) || std::ranges::count(unnamed_, key)) return;
    if (known_.empty()) {
      throw config_error(location, prefix_ + key,
                         fmt::format("unknown key; this config takes nothing below '{}'",
                                     std::string_view(prefix_).substr(0, prefix_.size() - 1)));
    }
    std::string suggestion = closest_name(key, known_);
    if (suggestion.empty()) suggestion = paths_of_leaf(key);
    throw config_error(location, prefix_ + key, "unknown key" + names_hint(suggestion, known_));
  }

  // The key paths that end in the name that `key` may be meant to be: "training.steps" for "steps".
  std::string paths_of_leaf(const std::string& key) const {
    std::map<std::string, std::vector<std::string>> paths;
    for (const FieldRecord& field : list_fields(root_)) {
      if (field.group) continue;
      paths[field.path.substr(field.path.rfind('.') + 1)].push_back(prefix_.substr(0, shown_) + field.path);
    }
    std::vector<std::string> leaves;
    leaves.reserve(paths.size());
    for (const auto& [leaf, unused] : paths) leaves.push_back(leaf);
    const std::string leaf = closest_name(key, leaves);
    return leaf.empty() ? "" : fmt::format("{}", fmt::join(paths.at(leaf), "' or '"));
  }

  const ConfigNode& value_;
  std::span<const std::string> path_;
  std::string prefix_;
  std::size_t shown_;
  WrittenPaths& written_;
  const Members& root_;
  std::vector<std::string> known_;
  std::vector<std::string> unnamed_;  // Known, but not named in hints.
};

}  // namespace

WrittenPaths assign_fields(const ConfigNode& map, const FieldVisitor::Members& members,
                           std::string_view prefix) {
  if (map.kind != Kind::kMap) {
    throw config_error(map.location, prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1),
                       fmt::format("got {}; allowed: a map of settings", short_text(map)));
  }
  WrittenPaths written;
  Reader reader(map, {}, std::string(prefix), prefix.size(), written, members);
  members(reader);
  reader.check_all_taken();
  return written;
}

WrittenPaths assign_path(std::string_view path, const ConfigNode& value, const FieldVisitor::Members& members,
                         std::string_view prefix) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t dot = path.find('.');
    parts.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  WrittenPaths written;
  Reader reader(value, parts, std::string(prefix), prefix.size(), written, members);
  members(reader);
  reader.check_all_taken();
  return written;
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
