#pragma once

#include <string>
#include <string_view>

#include "tables/table.h"

namespace che {

// A table environment to \input into a document that loads booktabs and graphicx; it shrinks to the
// line where it is wider. ASCII alone.
std::string latex_table(const Table& table);

// Text that LaTeX typesets as it is written; characters beyond ASCII that no command is known for
// become question marks.
std::string latex_text(std::string_view text);

}  // namespace che
