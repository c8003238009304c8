#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace che {

// An automaton as OpenFST's own compiler of AT&T's format reads it. OpenFST 1.7 is C++17; this header shows
// nothing of it.
class OpenFstAcceptor {
 public:
  // `symbols` has one byte per symbol. The text must be one that OpenFST accepts.
  OpenFstAcceptor(const std::string& text, const std::string& symbols);
  ~OpenFstAcceptor();

  // Whether the intersection of the string, in ids of symbols, with the automaton has an accepting path.
  bool accepts(const std::vector<std::uint8_t>& input) const;

  bool is_deterministic() const;
  bool has_epsilon() const;

 private:
  struct Automaton;

  std::unique_ptr<Automaton> automaton_;
};

}  // namespace che
