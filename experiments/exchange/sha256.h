#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace che {

// SHA-256 of what is added, part by part, as `sha256sum` prints it: 64 hexadecimal digits.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view part);
  // Of everything so far; nothing can be added afterwards.
  std::string digits();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Of one text.
std::string sha256(std::string_view text);

}  // namespace che
