#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace che {

// Says what a setting determines. A run's id is a hash of every kCell and kRepetition field; its cell, the
// position in a table, is a hash of the kCell fields only.
enum class Role {
  kCell,  // Determines the trained parameters.
  // Determines them too, but runs that differ in nothing else repeat one cell: seed, learning rate.
  kRepetition,
  kEvaluation,  // Determines which numbers are measured on the trained parameters.
  kExecution,   // Determines neither: device, threads, logging.
};

struct Field {
  std::string_view name;
  std::string_view help;  // One line, with the unit where there is one.
  // If set, identities hash this name in place of `name`, so that run ids outlive a new name.
  std::string_view hashed_name = {};
  // If set, configs write a whole number 0 as this word (`auto`) and in no other way.
  std::string_view zero_word = {};
  // For a nested struct that may be absent: the error for setting a part of it alone.
  std::string_view when_absent = {};
  // For a list that replaces other fields while it is not empty: their names. Setting it writes them too.
  std::span<const std::string_view> replaces = {};
  // If set, a list of this name replaces the field: readers refuse it, and nothing lists or writes it.
  std::string_view replaced_by = {};
  // For a component: which of its fields names it, and a map of it must have.
  std::string_view named_by = "name";
  bool structural = false;  // For a choice that decides which other fields exist.
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
  // An enumeration whose values 0, 1, 2, ... configs write as these words, in this order.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void choice(const Field& field, Enum& value, const std::vector<std::string>& words) {
    std::string word = words.at(static_cast<std::size_t>(value));
    choice(field, word, words);
    value = static_cast<Enum>(std::ranges::find(words, word) - words.begin());
  }
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

// The fields of `config`, which has to outlive the result. A const `config` is copied, for visitors that
// read.
template <class Config>
FieldVisitor::Members fields_of(Config& config) {
  if constexpr (std::is_const_v<Config>) {
    return [copy = config](FieldVisitor& visitor) mutable { copy.visit_fields(visitor); };
  } else {
    return [&config](FieldVisitor& visitor) { config.visit_fields(visitor); };
  }
}

// Options of a task or an encoding as text by name, as command lines and headers of files have them.
using OptionValues = std::map<std::string, std::string>;

// For an entry that has no options.
struct NoOptions {
  void visit_fields(FieldVisitor&) {}
};

// A struct of options of a type that only the entry of its task or encoding knows, held by value. The
// default is empty: it stands for the default options of whichever entry it is given to.
class AnyOptions {
 public:
  AnyOptions() = default;
  template <class Options>
  requires(!std::is_same_v<Options, AnyOptions>) AnyOptions(
      Options options)  // NOLINT(google-explicit-constructor): entries and configs assign their struct.
      : value_(std::move(options)), visit_([](std::any& value, FieldVisitor& visitor) {
          std::any_cast<Options&>(value).visit_fields(visitor);
        }) {}

  void visit_fields(FieldVisitor& visitor) {
    if (visit_) visit_(value_, visitor);
  }

  // The struct itself. Throws std::bad_any_cast for another type.
  template <class Options>
  const Options& as() const {
    return std::any_cast<const Options&>(value_);
  }
  template <class Options>
  Options& as() {
    return std::any_cast<Options&>(value_);
  }

  // These options, or `defaults` where these are empty or of another type.
  const AnyOptions& or_defaults(const AnyOptions& defaults) const {
    return value_.type() == defaults.value_.type() ? *this : defaults;
  }

  // These options with those that `values` names set. Throws Error for an unknown name or a bad value.
  AnyOptions with(const OptionValues& values) const;
  // Every option in canonical text.
  OptionValues values() const;

 private:
  std::any value_;
  void (*visit_)(std::any& value, FieldVisitor& visitor) = nullptr;
};

// Values of a config that are allowed by themselves and do not fit together.
struct ConfigProblem {
  std::vector<std::string> paths;  // Key paths of the values, first the one that is to be changed.
  std::string text;                // Says what is wrong, what is allowed and what to change.

  // "model.width, model.heads: what is wrong".
  std::string message() const;
};

}  // namespace che
