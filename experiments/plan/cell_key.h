#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"

namespace che {

// A field of a config with its value, as text.
struct SettingValue {
  std::string path;  // "encoding.dape.hidden"
  std::string value;

  std::string text() const { return path + "=" + value; }
  auto operator<=>(const SettingValue&) const = default;
};

// The fields of a component ("task", "encoding") that change results and differ from `defaults`, which has
// the same structure.
std::vector<SettingValue> settings_off_default(std::string_view component,
                                               const FieldVisitor::Members& config,
                                               const FieldVisitor::Members& defaults);

// Which encoding, whether DAPE wraps it and whether its positions are randomized; or the kind of a model that
// takes no encoding; or a model outside che.
struct EncodingForm {
  std::string name;
  bool dape = false;
  bool randomized = false;
  bool foreign = false;  // The name is that of a model outside che, of which only predictions are known.

  // The shorthand of configs: [randomized_][dape_]NAME; the name of a model outside che.
  std::string text() const;
  auto operator<=>(const EncodingForm&) const = default;
};

// The name of a table's row: a task and every setting that is off its default.
struct TaskLabel {
  std::string name;
  std::vector<SettingValue> settings = {};

  // "odds_first(order=odd_first)"
  std::string text() const;
  auto operator<=>(const TaskLabel&) const = default;
};

// The name of a table's column: an encoding and every setting that is off its default, those of the encoding
// first.
struct EncodingLabel {
  EncodingForm form;
  std::vector<SettingValue> settings = {};

  // "dape_kerple(dape.hidden=16, model.width=64)"
  std::string text() const;
  // "(dape.hidden=16, model.width=64)"; empty without settings.
  std::string settings_text() const;
  auto operator<=>(const EncodingLabel&) const = default;
};

// Which cell of a table: its row and its column.
struct CellKey {
  TaskLabel task;
  EncodingLabel encoding;

  auto operator<=>(const CellKey&) const = default;
};

}  // namespace che
