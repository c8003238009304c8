#include "core/config/field_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/number_text.h"

namespace che {
namespace {

class Lister : public FieldVisitor {
 public:
  Lister(std::vector<FieldRecord>& records, std::string prefix, Role role)
      : records_(records), prefix_(std::move(prefix)), role_(role) {}

  bool describes = false;
  // If set, receives the key path of every field that takes a list.
  std::vector<std::string>* lists = nullptr;

  void integer(const Field& field, std::int64_t& value, std::int64_t min, std::int64_t max) override {
    if (!field.replaced_by.empty()) return;
    const bool is_word = value == 0 && !field.zero_word.empty();
    const std::string text = is_word ? std::string(field.zero_word) : std::to_string(value);
    const auto allowed = [&] {
      return (field.zero_word.empty() ? "" : fmt::format("{}, ", field.zero_word)) +
             allowed_integers(min, max);
    };
    add(field, text, allowed).number = true;
  }

  void real(const Field& field, double& value, double min, double max) override {
    add(field, real_text(value), [&] { return allowed_reals(min, max); }).number = true;
  }

  void choice(const Field& field, std::string& value, const std::vector<std::string>& allowed) override {
    add(field, value, [&] { return fmt::format("{}", fmt::join(allowed, ", ")); }).structural =
        field.structural;
  }

  void boolean(const Field& field, bool& value) override {
    add(field, value ? "true" : "false", [] { return "true, false"; }).boolean = true;
  }

  void text(const Field& field, std::string& value, const Accept& /*accept*/) override {
    if (!value.empty()) add(field, value, [] { return "a text"; }).structural = true;
  }

  void integer_list(const Field& field, std::vector<std::int64_t>& values, std::int64_t min,
                    std::int64_t max) override {
    if (lists) lists->push_back(prefix_ + std::string(field.name));
    if (values.empty()) return;
    FieldRecord& record = add(field, fmt::format("[{}]", fmt::join(values, ", ")),
                              [&] { return fmt::format("a list of {}", allowed_integers(min, max)); });
    record.number = record.structural = true;
  }

  void group(const Field& field, const Members& members) override { descend(field, members); }

  void optional_group(const Field& field, bool& present, const Members& members) override {
    if (!present) return;
    FieldRecord& record = add(field, "present", [] { return ""; });
    record.structural = record.group = true;
    descend(field, members);
  }

  void component(const Field& field, const std::function<void(std::string_view)>& /*reset*/,
                 const Members& members) override {
    descend(field, members);
  }

  void role(Role role) override { role_ = role; }

 private:
  template <class Allowed>
  FieldRecord& add(const Field& field, const std::string& value, const Allowed& allowed) {
    const auto path = [&](std::string_view name) { return prefix_ + std::string(name); };
    records_.push_back({.path = path(field.name),
                        .hashed_path = path(field.hashed_name.empty() ? field.name : field.hashed_name),
                        .value = value,
                        .allowed = describes ? allowed() : std::string(),
                        .help = std::string(describes ? field.help : std::string_view()),
                        .role = role_});
    return records_.back();
  }

  void descend(const Field& field, const Members& members) {
    Lister nested(records_, prefix_ + std::string(field.name) + ".", role_);
    nested.describes = describes;
    nested.lists = lists;
    members(nested);
  }

  std::vector<FieldRecord>& records_;
  std::string prefix_;
  Role role_;
};

std::vector<FieldRecord> records_of(const FieldVisitor::Members& members, bool describes,
                                    std::vector<std::string>* lists) {
  std::vector<FieldRecord> records;
  Lister lister(records, "", Role::kCell);
  lister.describes = describes;
  lister.lists = lists;
  members(lister);
  return records;
}

}  // namespace

std::vector<FieldRecord> list_fields(const FieldVisitor::Members& members) {
  return records_of(members, false, nullptr);
}

std::vector<FieldRecord> describe_fields(const FieldVisitor::Members& members) {
  return records_of(members, true, nullptr);
}

std::vector<std::string> list_valued_fields(const FieldVisitor::Members& members) {
  std::vector<std::string> paths;
  records_of(members, false, &paths);
  return paths;
}

std::vector<FieldRecord> distinct_fields(const FieldVisitor::Members& config,
                                         const FieldVisitor::Members& defaults) {
  std::map<std::string, std::string> default_values;
  for (const FieldRecord& record : list_fields(defaults)) default_values.emplace(record.path, record.value);
  std::vector<FieldRecord> distinct;
  for (FieldRecord& record : list_fields(config)) {
    if (record.structural || default_values.at(record.path) != record.value) {
      distinct.push_back(std::move(record));
    }
  }
  return distinct;
}

bool is_below(std::string_view path, std::string_view ancestor) {
  return ancestor.empty() || path == ancestor ||
         (path.size() > ancestor.size() && path.starts_with(ancestor) && path[ancestor.size()] == '.');
}

namespace {

// Other readers of YAML take these for booleans or null.
constexpr std::array<std::string_view, 9> kReservedWords = {"y",   "n",    "yes",   "no",  "on",
                                                            "off", "true", "false", "null"};

bool is_plain_word(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (text.empty() || !std::ranges::all_of(text, allowed)) return false;
  const bool letter_first = text[0] < '0' || text[0] > '9';
  const auto is_same = [](char one, char other) { return (one | 0x20) == other; };
  return letter_first && std::ranges::none_of(kReservedWords, [&](std::string_view word) {
           return std::ranges::equal(text, word, is_same);  // In any case.
         });
}

// Choices and texts of one line have no control characters; numbers, true and false are written as they are.
std::string scalar(const FieldRecord& record) {
  if (record.number || record.boolean || is_plain_word(record.value)) return record.value;
  std::string quoted = "\"";
  for (const char c : record.value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// A text of several lines, none of them empty and the first not indented, as a block of YAML. Its lines stand
// two columns further in than the key.
std::string block(std::string_view text, const std::string& indentation) {
  std::string yaml = text.ends_with('\n') ? "|\n" : "|-\n";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    yaml += fmt::format("{}  {}\n", indentation, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return yaml;
}

}  // namespace

std::string write_fields(const FieldVisitor::Members& members) {
  std::string yaml;
  std::string open;  // The path of the group that the last line stands in, with a final dot.
  const auto indent = [](std::string_view path) {
    return std::string(2 * static_cast<std::size_t>(std::ranges::count(path, '.')), ' ');
  };
  for (const FieldRecord& record : list_fields(members)) {
    if (record.group) continue;
    const std::size_t name_at = record.path.rfind('.') + 1;
    const std::string group = record.path.substr(0, name_at);
    // The groups of this field that are not open yet.
    std::size_t shared = 0;
    for (std::size_t i = 0; i < std::min(open.size(), group.size()) && open[i] == group[i]; ++i) {
      if (open[i] == '.') shared = i + 1;
    }
    for (std::size_t start = shared; start < group.size();) {
      const std::size_t dot = group.find('.', start);
      yaml += fmt::format("{}{}:\n", indent(group.substr(0, start)), group.substr(start, dot - start));
      start = dot + 1;
    }
    open = group;
    const bool is_block = record.value.find('\n') != std::string::npos;
    yaml += fmt::format("{}{}: {}", indent(group), record.path.substr(name_at),
                        is_block ? block(record.value, indent(group)) : scalar(record) + "\n");
  }
  return yaml;
}

}  // namespace che
