#include "plots/figure_columns.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/number_text.h"

namespace che {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

}  // namespace

FigureColumns::FigureColumns(const ResultTable& table) {
  std::map<std::string, std::set<std::string>> paths_of_name;
  for (const EncodingLabel& label : table.encodings) {
    for (const SettingValue& setting : label.settings) {
      paths_[label.form].insert(setting.path);
      paths_of_name[last_part(setting.path)].insert(setting.path);
    }
  }
  for (const auto& [name, paths] : paths_of_name) {
    if (paths.size() > 1) ambiguous_.insert(paths.begin(), paths.end());
  }
  for (const TableRun& run : table.runs) {
    Settings& values = values_[run.encoding][run.task];
    if (!values.empty()) continue;
    for (const FieldRecord& field : list_fields(run.config)) values.emplace(field.path, field.value);
    if (values.contains("encoding.positions")) positioned_.insert(run.encoding.form);
  }
}

void FigureColumns::append(FigureRow& row, const TaskLabel& task, const EncodingLabel& label,
                           const std::string& without) const {
  std::string text = label.form.text();
  std::optional<double> number;
  const std::vector<SettingValue> settings = settings_of(task, label, without);
  for (const SettingValue& setting : settings) {
    const std::string& path = setting.path;
    text += " " + (ambiguous_.contains(path) ? path : last_part(path)) + "=" + setting.value;
  }
  if (settings.size() == 1) number = parse_real(settings.front().value);
  const EncodingForm& form = label.form;
  std::string positions = !positioned_.contains(form) ? "" : form.randomized ? "randomized" : "contiguous";
  const auto others = std::ranges::find(label.settings, "encoding.positions", &SettingValue::path);
  if (others != label.settings.end()) positions = others->value;
  for (const std::string& value : {label.text(), text, form.name, positions}) row.emplace_back(value);
  row.push_back(yes_or_no(form.dape));
  row.push_back(table_value(number));
}

std::vector<SettingValue> FigureColumns::settings_of(const TaskLabel& task, const EncodingLabel& label,
                                                     const std::string& without) const {
  std::vector<SettingValue> settings = label.settings;
  const auto paths = paths_.find(label.form);
  const auto of_label = values_.find(label);
  if (paths == paths_.end() || of_label == values_.end()) return settings;
  const auto of_cell = of_label->second.find(task);
  if (of_cell == of_label->second.end()) return settings;
  const Settings& values = of_cell->second;
  for (const std::string& path : paths->second) {
    const auto value = values.find(path);
    if (value == values.end() || std::ranges::count(settings, path, &SettingValue::path) > 0) continue;
    settings.push_back({.path = path, .value = value->second});
  }
  std::erase_if(settings, [&](const SettingValue& setting) { return setting.path == without; });
  std::ranges::sort(settings, {}, &SettingValue::path);
  return settings;
}

DataTable empty_data(std::initializer_list<const char*> columns) {
  DataTable data{.columns = {"level", "task"}, .rows = {}};
  data.columns.insert(data.columns.end(), FigureColumns::kNames.begin(), FigureColumns::kNames.end());
  data.columns.insert(data.columns.end(), columns.begin(), columns.end());
  return data;
}

FigureRow begin_row(const TableRow& task, const EncodingLabel& encoding, const FigureColumns& columns,
                    const std::string& without) {
  FigureRow row = {std::string(level_name(task.level)), task.task.text()};
  columns.append(row, task.task, encoding, without);
  return row;
}

void add_row(DataTable& data, FigureRow row, std::initializer_list<TableValue> values) {
  row.insert(row.end(), values);
  data.rows.push_back(std::move(row));
}

}  // namespace che
