#pragma once

#include <string>

#include "tables/formats/table.h"

namespace che {

// A table for a terminal. One that is wider than `style` allows is cut into blocks of columns that
// repeat the text columns on the left; notes are wrapped.
std::string terminal_table(const PrintedTable& table, const TerminalStyle& style);

}  // namespace che
