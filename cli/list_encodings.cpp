#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/listing.h"
#include "core/registry.h"
#include "experiments/published/paper_table.h"
#include "models/settings/encoding_entry.h"

namespace che {
namespace {

// The columns of Table 2 of the DAPE paper whose values stand next to forms of this encoding.
std::string columns_of(const std::string& encoding) {
  std::vector<std::string> labels;
  for (const PaperColumn& column : paper_columns()) {
    if (column.form.name == encoding) labels.push_back(column.form.text());
  }
  return labels.empty() ? "-" : fmt::format("{}", fmt::join(labels, ", "));
}

std::vector<ListRow> encoding_rows() {
  std::vector<ListRow> rows = {
      {{"ENCODING", "READS POSITIONS", "DAPE CAN WRAP IT", "IN TABLE 2 AS", "SUMMARY"}, {}}};
  const auto& registry = Registry<EncodingEntry>::instance();
  for (const std::string& name : registry.names()) {
    const EncodingEntry& entry = registry.get(name);
    ListRow row{{name, entry.reads_positions ? "yes" : "no", entry.takes_dape() ? "yes" : "no",
                 columns_of(name), entry.summary},
                {"formula: " + entry.formula, "source: " + entry.source}};
    append_options(entry.options, row.details);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Listing encoding_listing() {
  return {.kind = "encodings",
          .help = "IN TABLE 2 AS: the columns whose values stand next to it",
          .rows = encoding_rows};
}

}  // namespace che
