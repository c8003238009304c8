#include "core/field_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/field_text.h"

namespace che {
namespace {

class Lister : public FieldVisitor {
 public:
  Lister(std::vector<FieldRecord>& records, std::string prefix, Role role, bool in_component)
      : records_(records), prefix_(std::move(prefix)), role_(role), in_component_(in_component) {}

  void integer(const Field& field, std::int64_t& value, std::int64_t min, std::int64_t max) override {
    add(field, std::to_string(value), allowed_integers(min, max));
    records_.back().number = true;
  }

  void real(const Field& field, double& value, double min, double max) override {
    add(field, real_text(value), allowed_reals(min, max));
    records_.back().number = true;
  }

  void choice(const Field& field, std::string& value, const std::vector<std::string>& allowed) override {
    add(field, value, fmt::format("{}", fmt::join(allowed, ", ")));
    records_.back().structural = in_component_ && field.name == "name";
  }

  void group(const Field& field, const Members& members) override { descend(field, members, false); }

  void optional_group(const Field& field, bool& present, const Members& members) override {
    if (!present) return;
    add(field, "present", "");
    records_.back().structural = true;
    records_.back().group = true;
    descend(field, members, false);
  }

  void component(const Field& field, const std::function<void(std::string_view)>& /*reset*/,
                 const Members& members) override {
    descend(field, members, true);
  }

  void role(Role role) override { role_ = role; }

 private:
  void add(const Field& field, std::string value, std::string allowed) {
    records_.push_back({.path = prefix_ + std::string(field.name),
                        .value = std::move(value),
                        .allowed = std::move(allowed),
                        .help = std::string(field.help),
                        .role = role_});
  }

  void descend(const Field& field, const Members& members, bool is_component) {
    Lister nested(records_, prefix_ + std::string(field.name) + ".", role_, is_component);
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

bool is_below(std::string_view path, std::string_view ancestor) {
  return ancestor.empty() || path == ancestor ||
         (path.size() > ancestor.size() && path.starts_with(ancestor) && path[ancestor.size()] == '.');
}

}  // namespace che
