#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/suggestion.h"

namespace che {

// All entries of one kind by name. `Entry` has `std::string name` and a static
// `const char* kind()` that error messages use ("task", "encoding").
template <class Entry>
class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  // Throws Error for a name that is taken.
  void add(Entry entry) {
    std::string name = entry.name;
    if (!entries_.emplace(name, std::move(entry)).second) {
      throw Error(std::string("two ") + Entry::kind() + "s are registered as '" + name + "'",
                  ErrorKind::kRuntime);
    }
  }

  // Throws Error that names the known entries, and the closest one.
  const Entry& get(std::string_view name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      throw Error(std::string("unknown ") + Entry::kind() + " '" + std::string(name) + "'" +
                  known_names_hint(name, names()));
    }
    return found->second;
  }

  // Sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
  }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

// A namespace-scope constant of this type, the last line of an entry's file, registers it.
template <class Entry>
struct Registered {
  explicit Registered(Entry entry) { Registry<Entry>::instance().add(std::move(entry)); }
};

}  // namespace che
