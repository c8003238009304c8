#include "core/config/field_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"

namespace che {
namespace {

class Lister : public FieldVisitor {
 public:
  Lister(std::vector<FieldRecord>& records, std::string prefix, Role role, bool in_component)
      : records_(records), prefix_(std::move(prefix)), role_(role), in_component_(in_component) {}

  // The key path of every field that takes a list.
  std::vector<std::string>* lists = nullptr;

  void integer(const Field& field, std::int64_t& value, std::int64_t min, std::int64_t max) override {
    if (!field.replaced_by.empty()) return;
    const bool is_word = value == 0 && !field.zero_word.empty();
    const std::string text = is_word ? std::string(field.zero_word) : std::to_string(value);
    const std::string word = field.zero_word.empty() ? "" : fmt::format("{}, ", field.zero_word);
    add(field, text, word + allowed_integers(min, max)).number = true;
  }

  void real(const Field& field, double& value, double min, double max) override {
    add(field, real_text(value), allowed_reals(min, max)).number = true;
  }

  void choice(const Field& field, std::string& value, const std::vector<std::string>& allowed) override {
    add(field, value, fmt::format("{}", fmt::join(allowed, ", "))).structural =
        in_component_ && field.name == "name";
  }

  void boolean(const Field& field, bool& value) override {
    add(field, value ? "true" : "false", "true, false").boolean = true;
  }

  void text(const Field& field, std::string& value, const Accept& /*accept*/) override {
    if (!value.empty()) add(field, value, "a text").structural = true;
  }

  void integer_list(const Field& field, std::vector<std::int64_t>& values, std::int64_t min,
                    std::int64_t max) override {
    if (lists) lists->push_back(prefix_ + std::string(field.name));
    if (values.empty()) return;
    FieldRecord& record = add(field, fmt::format("[{}]", fmt::join(values, ", ")),
                              fmt::format("a list of {}", allowed_integers(min, max)));
    record.number = record.structural = true;
  }

  void group(const Field& field, const Members& members) override { descend(field, members, false); }

  void optional_group(const Field& field, bool& present, const Members& members) override {
    if (!present) return;
    FieldRecord& record = add(field, "present", "");
    record.structural = record.group = true;
    descend(field, members, false);
  }

  void component(const Field& field, const std::function<void(std::string_view)>& /*reset*/,
                 const Members& members) override {
    descend(field, members, true);
  }

  void role(Role role) override { role_ = role; }

 private:
  FieldRecord& add(const Field& field, std::string value, std::string allowed) {
    const auto path = [&](std::string_view name) { return prefix_ + std::string(name); };
    records_.push_back({.path = path(field.name),
                        .hashed_path = path(field.hashed_name.empty() ? field.name : field.hashed_name),
                        .value = std::move(value),
                        .allowed = std::move(allowed),
                        .help = std::string(field.help),
                        .role = role_});
    return records_.back();
  }

  void descend(const Field& field, const Members& members, bool is_component) {
    Lister nested(records_, prefix_ + std::string(field.name) + ".", role_, is_component);
    nested.lists = lists;
    members(nested);
  }

  std::vector<FieldRecord>& records_;
  std::string prefix_;
  Role role_;
  bool in_component_;
};

}  // namespace

std::vector<FieldRecord> list_fields(const FieldVisitor::Members& members) {
  std::vector<FieldRecord> records;
  Lister lister(records, "", Role::kCell, false);
  members(lister);
  return records;
}

std::vector<std::string> list_valued_fields(const FieldVisitor::Members& members) {
  std::vector<FieldRecord> records;
  std::vector<std::string> paths;
  Lister lister(records, "", Role::kCell, false);
  lister.lists = &paths;
  members(lister);
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

}  // namespace che
