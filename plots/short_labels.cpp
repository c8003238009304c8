#include "plots/short_labels.h"

#include <map>
#include <set>
#include <string>

namespace che {
namespace {

std::string last_part(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

}  // namespace

std::vector<EncodingLabel> short_labels(std::vector<EncodingLabel> labels) {
  std::map<std::string, std::set<std::string>> paths_of;
  for (const EncodingLabel& label : labels) {
    for (const SettingValue& setting : label.settings) paths_of[last_part(setting.path)].insert(setting.path);
  }
  for (EncodingLabel& label : labels) {
    for (SettingValue& setting : label.settings) {
      if (std::string last = last_part(setting.path); paths_of.at(last).size() == 1) setting.path = last;
    }
  }
  return labels;
}

}  // namespace che
