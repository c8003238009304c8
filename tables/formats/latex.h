#pragma once

#include <string>
#include <string_view>

#include "tables/formats/table.h"

namespace che {

// A table to \input into a document that loads booktabs and graphicx. Up to 25 rows are a table environment,
// which shrinks to the line where it is wider; more are a longtable, which breaks between pages and does not
// shrink, for a document with one column that loads longtable too. ASCII only.
std::string latex_table(const Table& table);

// Text that LaTeX typesets as it is written; characters beyond ASCII that no command is known for
// become question marks.
std::string latex_text(std::string_view text);

}  // namespace che
