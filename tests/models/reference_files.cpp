#include "tests/models/reference_files.h"

#include <ATen/ATen.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "models/settings/encoding_entry.h"

namespace che {

std::filesystem::path reference_dir() {
  const char* given = std::getenv("CHE_REFERENCE_DIR");
  return given != nullptr ? given : CHE_SOURCE_DIR "/tests/reference";
}

nlohmann::json read_reference(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return nlohmann::json::parse(file);
}

std::vector<std::filesystem::path> reference_files(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(reference_dir() / folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

at::Tensor reference_tensor(const nlohmann::json& object) {
  const auto shape = object.at("shape").get<std::vector<std::int64_t>>();
  return at::tensor(object.at("values").get<std::vector<double>>(), at::kDouble).reshape(shape);
}

at::Tensor reference_input(const nlohmann::json& object) {
  return reference_tensor(object).to(at::kFloat).to(at::kDouble);
}

at::Tensor reference_list(const nlohmann::json& list) {
  if (!list.is_array()) return at::scalar_tensor(list.get<double>(), at::kDouble);
  std::vector<at::Tensor> parts;
  for (const nlohmann::json& element : list) parts.push_back(reference_list(element));
  return at::stack(parts);
}

std::string encoding_name(const std::string& reference_name) {
  static const std::map<std::string, std::string> names{{"LEARNT", "learned"}, {"ROTARY", "rope"}};
  const auto found = names.find(reference_name);
  if (found != names.end()) return found->second;
  std::string name = reference_name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

bool encoding_exists(const std::string& name) {
  const std::vector<std::string> names = Registry<EncodingEntry>::instance().names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string difference(const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
  if (actual.sizes() != expected.sizes()) {
    std::ostringstream text;
    text << "shape " << actual.sizes() << " instead of " << expected.sizes();
    return text.str();
  }
  const at::Tensor a = actual.detach().to(at::kDouble).flatten();
  const at::Tensor b = expected.detach().to(at::kDouble).flatten();
  const at::Tensor excess = (a - b).abs() / at::clamp_min(b.abs(), 1.0);
  const at::Tensor bad = excess.le(tolerance).logical_not();
  const auto count = bad.sum().item<std::int64_t>();
  if (count == 0) return "";
  // NaN counts as the largest difference.
  const auto worst = at::nan_to_num(excess, 1e300, 1e300).argmax().item<std::int64_t>();
  return fmt::format("{} of {} values differ, most at {}: {} instead of {} (relative {:.3g}, allowed {:.3g})",
                     count, a.numel(), worst, a[worst].item<double>(), b[worst].item<double>(),
                     excess[worst].item<double>(), tolerance);
}

}  // namespace che
