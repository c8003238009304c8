#pragma once

namespace che {

// Files of this folder, built into the program.
extern const char* const kReportPage;    // report.html.mustache
extern const char* const kReportTable;   // table.html.mustache
extern const char* const kReportStyle;   // report.css
extern const char* const kReportScript;  // report.js

}  // namespace che
