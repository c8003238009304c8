// The order of dependencies between folders, as cmake/layers.txt states it, against the includes of every
// file.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace che {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = CHE_SOURCE_DIR;

struct Layer {
  std::vector<std::string> patterns;  // Folders, or patterns of files.
  bool is_plain;

  bool has(const std::string& path) const {
    const std::string folder = fs::path(path).parent_path().string();
    return std::ranges::any_of(patterns, [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0 ||
             fnmatch(pattern.c_str(), folder.c_str(), FNM_PATHNAME) == 0;
    });
  }
};

std::vector<Layer> read_layers() {
  std::ifstream file(kRoot / "cmake/layers.txt");
  std::vector<Layer> layers;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string pattern, kind;
    if (line.front() == ' ') {
      while (words >> pattern) layers.back().patterns.push_back(pattern);
      continue;
    }
    words >> pattern >> kind;
    EXPECT_TRUE(kind == "plain" || kind == "torch") << line;
    layers.push_back({.patterns = {pattern}, .is_plain = kind == "plain"});
  }
  return layers;
}

bool is_source(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cpp" || path.extension() == ".cu";
}

// The place of the file's layer; that of the end where it has none.
std::size_t layer_of(const std::vector<Layer>& layers, const std::string& path) {
  const auto layer = std::ranges::find_if(layers, [&](const Layer& one) { return one.has(path); });
  return static_cast<std::size_t>(layer - layers.begin());
}

struct Includes {
  std::vector<std::string> project;  // "core/error.h"
  std::vector<std::string> torch;    // "ATen/ATen.h"
};

Includes includes_of(const fs::path& path) {
  const std::regex quoted("^\\s*#include \"([^\"]+)\"");
  const std::regex library("^\\s*#include <((ATen|torch|c10)/[^>]+)>");
  std::ifstream file(path);
  Includes includes;
  std::smatch found;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_search(line, found, quoted)) includes.project.push_back(found[1]);
    if (std::regex_search(line, found, library)) includes.torch.push_back(found[1]);
  }
  return includes;
}

using IncludesOf = std::function<Includes(const std::string& file)>;

// The LibTorch header that `file` includes at first or second hand, or nothing.
std::optional<std::string> torch_header(const std::string& file, const IncludesOf& includes_of_file,
                                        std::map<std::string, std::optional<std::string>>& known) {
  if (const auto old = known.find(file); old != known.end()) return old->second;
  known[file] = std::nullopt;  // For headers that include each other.
  const Includes includes = includes_of_file(file);
  if (!includes.torch.empty()) return known[file] = includes.torch.front();
  for (const std::string& include : includes.project) {
    if (auto header = torch_header(include, includes_of_file, known)) return known[file] = header;
  }
  return std::nullopt;
}

// The errors in the includes of a file in the layer with this index.
std::vector<std::string> violations(const std::vector<Layer>& layers, std::size_t index,
                                    const std::string& file, const IncludesOf& includes_of_file) {
  std::vector<std::string> errors;
  for (const std::string& include : includes_of_file(file).project) {
    if (include.find('/') == std::string::npos) continue;  // A generated header.
    const std::size_t layer = layer_of(layers, include);
    if (layer == layers.size()) {
      errors.push_back(include + " is in no folder of cmake/layers.txt");
    } else if (layer > index) {
      errors.push_back(include + " is in a higher folder");
    }
  }
  std::map<std::string, std::optional<std::string>> known;
  if (const auto header =
          layers[index].is_plain ? torch_header(file, includes_of_file, known) : std::nullopt) {
    errors.push_back("includes lead to " + *header);
  }
  return errors;
}

TEST(Layers, EveryFileIncludesLowerFoldersOnly) {
  const std::vector<Layer> layers = read_layers();
  ASSERT_FALSE(layers.empty());
  std::map<std::string, Includes> files;
  const auto includes_of_file = [&](const std::string& file) {
    const auto [place, is_new] = files.try_emplace(file);
    if (is_new) place->second = includes_of(kRoot / file);
    return place->second;
  };
  std::set<std::string> tops;
  for (const Layer& layer : layers) tops.insert(*fs::path(layer.patterns.front()).begin());
  std::set<std::size_t> with_files;
  std::size_t checked = 0;
  for (const std::string& top : tops) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      if (!is_source(entry.path())) continue;
      ++checked;
      const std::string file = fs::relative(entry.path(), kRoot).string();
      const std::size_t layer = layer_of(layers, file);
      ASSERT_LT(layer, layers.size()) << file << " is in no folder of cmake/layers.txt";
      with_files.insert(layer);
      for (const std::string& problem : violations(layers, layer, file, includes_of_file)) {
        ADD_FAILURE() << file << ": " << problem;
      }
    }
  }
  EXPECT_EQ(layers.size(), with_files.size()) << "a folder of cmake/layers.txt has no files";
  EXPECT_GT(checked, 200U);
}

TEST(Layers, IncludesThatPointUpOrToLibTorchAreFound) {
  const std::vector<Layer> layers = {{.patterns = {"core"}, .is_plain = true},
                                     {.patterns = {"models"}, .is_plain = false},
                                     {.patterns = {"plots"}, .is_plain = true}};
  const std::map<std::string, Includes> files = {
      {"core/error.h", {}},
      {"core/upward.cpp", {.project = {"models/options.h"}, .torch = {}}},
      {"models/options.h", {.project = {"core/error.h"}, .torch = {}}},
      {"models/loss.h", {.project = {"core/error.h"}, .torch = {"ATen/ATen.h"}}},
      {"models/encoder.h", {.project = {"models/loss.h"}, .torch = {}}},
      {"plots/good.cpp", {.project = {"core/error.h", "models/options.h"}, .torch = {}}},
      {"plots/direct.cpp", {.project = {}, .torch = {"ATen/ATen.h"}}},
      {"plots/at_second_hand.cpp", {.project = {"models/encoder.h"}, .torch = {}}},
      {"plots/elsewhere.cpp", {.project = {"elsewhere/x.h"}, .torch = {}}},
  };
  const auto number = [&](std::size_t index, const std::string& file) {
    return violations(
               layers, index, file,
               [&](const std::string& name) { return files.contains(name) ? files.at(name) : Includes{}; })
        .size();
  };
  EXPECT_EQ(number(1, "models/encoder.h"), 0U);
  EXPECT_EQ(number(2, "plots/good.cpp"), 0U);
  EXPECT_EQ(number(0, "core/upward.cpp"), 1U);
  EXPECT_EQ(number(2, "plots/direct.cpp"), 1U);
  EXPECT_EQ(number(2, "plots/at_second_hand.cpp"), 1U);
  EXPECT_EQ(number(2, "plots/elsewhere.cpp"), 1U);
}

}  // namespace
}  // namespace che
