#pragma once

#include <string>
#include <string_view>

#include "core/config/node.h"

namespace che {

// Reads a symbol table of OpenFST, one "symbol number" per line: the symbols by number, without epsilon,
// which has number 0. `origin` is the place of the first line. Throws Error (usage) with file and line for
// symbols that are no single printable ASCII character, and for symbols or numbers that are there twice.
std::string parse_symbol_table(std::string_view text, const ConfigLocation& origin);

}  // namespace che
