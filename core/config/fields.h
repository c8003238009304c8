#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace che {

// What a setting determines, and so the identity of a run: its id is a hash of every kCell and kReplica
// field, and its cell (the position in a table) of the kCell fields only.
enum class Role {
  kCell,     // Determines the trained parameters.
  kReplica,  // Determines them too, but runs that differ in nothing else share a cell: seed, learning rate.
  kEvaluation,  // Determines which numbers are measured on the trained parameters.
  kExecution,   // Determines neither: device, threads, logging.
};

struct Field {
  std::string_view name;
  std::string_view help;  // One line, with the unit where there is one.
  // The name that identities hash where it is another one, so that run ids outlive a new name.
  std::string_view hashed_name = {};
  // If set, configs write a whole number 0 as this word (`auto`) and in no other way.
  std::string_view zero_word = {};
  // Of a nested struct that may be absent: what is wrong and what to do where a part of it is set alone.
  std::string_view when_absent = {};
  // Fields beside a list that the list takes the place of while it is not empty: setting it writes them too.
  std::span<const std::string_view> replaces = {};
  // The list that takes the place of this field. Readers refuse the field, nothing lists or writes it.
  std::string_view replaced_by = {};
};

// Sees every field of a plain struct once, with its limits. Structs that are read from a config
// list their fields in `void visit_fields(FieldVisitor&)`; readers, writers and describers are
// visitors, so that a field is named in one place only.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;

  // Limits are inclusive.
  virtual void integer(const Field& field, std::int64_t& value, std::int64_t min, std::int64_t max) = 0;
  virtual void real(const Field& field, double& value, double min, double max) = 0;
  virtual void choice(const Field& field, std::string& value, const std::vector<std::string>& allowed) = 0;
  virtual void boolean(const Field& field, bool& value) = 0;
  // A text that may be absent, which is empty, and may have several lines. Readers set it to what `accept`
  // returns for the config's text; `accept` throws Error for a text that is not allowed.
  using Accept = std::function<std::string(std::string_view)>;
  virtual void text(const Field& field, std::string& value, const Accept& accept) = 0;
  // Different whole numbers, in a list that may be absent, which is empty. Limits are inclusive.
  virtual void integer_list(const Field& field, std::vector<std::int64_t>& values, std::int64_t min,
                            std::int64_t max) = 0;

  using Members = std::function<void(FieldVisitor&)>;

  // A nested struct.
  virtual void group(const Field& field, const Members& members) = 0;
  // A nested struct that may be absent; naming it in a config makes it present.
  virtual void optional_group(const Field& field, bool& present, const Members& members) = 0;
  // A nested struct that a config may give as one string (`encoding: dape_kerple`). `reset` sets
  // the struct from that string, throwing Error; a map given instead is read after reset("").
  virtual void component(const Field& field, const std::function<void(std::string_view)>& reset,
                         const Members& members) = 0;
  // The fields visited until the next call have this role (nested structs inherit it).
  virtual void role(Role role) = 0;
};

// What `config` lists, which has to outlive the result.
FieldVisitor::Members fields_of(auto& config) {
  return [&config](FieldVisitor& visitor) { config.visit_fields(visitor); };
}

// The options of a task or an encoding in canonical text by name: what a config carries while it
// does not know the option's struct.
using OptionValues = std::map<std::string, std::string>;

// Visitors between a flat struct of options and its text.
void load_options(const OptionValues& values, const FieldVisitor::Members& members);
OptionValues dump_options(const FieldVisitor::Members& members);

// The struct with `values` set and everything else at its default.
template <class Options>
Options options_from(const OptionValues& values) {
  Options options;
  load_options(values, [&](FieldVisitor& visitor) { options.visit_fields(visitor); });
  return options;
}

// Lets `visitor` see (and change) an Options that `values` describes. This function, instantiated,
// is what a registry entry holds of its options' type.
template <class Options>
void visit_options(OptionValues& values, FieldVisitor& visitor) {
  auto options = options_from<Options>(values);
  options.visit_fields(visitor);
  values = dump_options([&](FieldVisitor& dumper) { options.visit_fields(dumper); });
}

// For an entry that has no options.
struct NoOptions {
  void visit_fields(FieldVisitor&) {}
};

}  // namespace che
