#pragma once

#include <array>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/results/result_table.h"
#include "tables/formats/table.h"

namespace che {

using FigureRow = std::vector<TableValue>;

// How a figure names and tells apart the columns of a table.
class FigureColumns {
 public:
  explicit FigureColumns(const ResultTable& table);

  // Appends the values of kNames for a cell; `without` is a setting that the column does not name.
  void append(FigureRow& row, const TaskLabel& task, const EncodingLabel& label,
              const std::string& without = "") const;

  static constexpr std::array kNames = {"encoding", "label", "family", "positions", "dape", "value"};

 private:
  using Settings = std::map<std::string, std::string>;

  // The settings in which columns of the label's form differ, with what runs of the cell have of them.
  std::vector<SettingValue> settings_of(const TaskLabel& task, const EncodingLabel& label,
                                        const std::string& without) const;

  std::map<EncodingForm, std::set<std::string>> paths_;  // The settings that a label of the form names.
  std::set<EncodingForm> positioned_;                    // Those that have positions.
  std::set<std::string> ambiguous_;                      // Paths that share their last part with another one.
  // All settings of a run of a column, by task: defaults differ between tasks and texts.
  std::map<EncodingLabel, std::map<TaskLabel, Settings>> values_;
};

// A table with the columns "level", "task", those of FigureColumns, then these.
DataTable empty_data(std::initializer_list<const char*> columns);

// The beginning of its rows.
FigureRow begin_row(const TableRow& task, const EncodingLabel& encoding, const FigureColumns& columns,
                    const std::string& without = "");

void add_row(DataTable& data, FigureRow row, std::initializer_list<TableValue> values);

inline TableValue count_value(std::size_t count) { return static_cast<std::int64_t>(count); }
inline TableValue yes_or_no(bool value) { return std::string(value ? "yes" : "no"); }

}  // namespace che
