#include "tasks/symbols.h"

#include "core/error.h"

namespace che {
namespace {

// Every printable character of Latin-1 but the space, letters and digits first.
std::string all_symbols() {
  std::string symbols;
  const auto add = [&](unsigned first, unsigned last) {
    for (unsigned c = first; c <= last; ++c) {
      const char symbol = static_cast<char>(c);
      if (symbols.find(symbol) == std::string::npos) symbols += symbol;
    }
  };
  add('0', '9');
  add('a', 'z');
  add('A', 'Z');
  add('!', '~');
  add(0xA1, 0xAC);
  add(0xAE, 0xFF);  // 0xAD, the soft hyphen, is invisible.
  return symbols;
}

}  // namespace

std::string default_symbols(std::size_t count) {
  static const std::string all = all_symbols();
  if (count > all.size()) throw Error("more symbols than there are names", ErrorKind::kRuntime);
  return all.substr(0, count);
}

std::string shown_symbols(std::string_view symbols) {
  std::string shown;
  shown.reserve(symbols.size());
  for (const char symbol : symbols) {
    const auto byte = static_cast<unsigned char>(symbol);
    if (byte < 0x80) {
      shown += symbol;
    } else {
      shown += static_cast<char>(0xC0 | (byte >> 6));
      shown += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return shown;
}

}  // namespace che
