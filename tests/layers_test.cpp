// The order of dependencies between folders, as cmake/layers.txt states it, against the includes of every
// file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
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
  std::string folder;
  bool is_plain;
};

std::vector<Layer> read_layers() {
  std::ifstream file(kRoot / "cmake/layers.txt");
  std::vector<Layer> layers;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string folder, kind;
    words >> folder >> kind;
    EXPECT_TRUE(kind == "plain" || kind == "torch") << line;
    layers.push_back({.folder = folder, .is_plain = kind == "plain"});
  }
  return layers;
}

bool is_source(const fs::path& path) { return path.extension() == ".h" || path.extension() == ".cpp"; }

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

// What is wrong with the includes of a file in the layer with this index.
std::vector<std::string> violations(const std::vector<Layer>& layers, std::size_t index,
                                    const Includes& includes) {
  std::vector<std::string> found;
  for (const std::string& include : includes.project) {
    const std::string folder = fs::path(include).parent_path().string();
    if (folder.empty()) continue;  // A generated header.
    const auto layer = std::ranges::find(layers, folder, &Layer::folder);
    if (layer == layers.end()) {
      found.push_back(include + " is in no folder of cmake/layers.txt");
    } else if (static_cast<std::size_t>(layer - layers.begin()) > index) {
      found.push_back(include + " is in a higher folder");
    } else if (layers[index].is_plain && !layer->is_plain) {
      found.push_back(include + " needs LibTorch");
    }
  }
  if (layers[index].is_plain) {
    for (const std::string& include : includes.torch) found.push_back(include + " is LibTorch's");
  }
  return found;
}

TEST(Layers, EveryFileIncludesLowerFoldersOnly) {
  const std::vector<Layer> layers = read_layers();
  ASSERT_FALSE(layers.empty());
  std::size_t files = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    ASSERT_TRUE(fs::is_directory(kRoot / layers[i].folder)) << layers[i].folder;
    for (const auto& entry : fs::directory_iterator(kRoot / layers[i].folder)) {
      if (!is_source(entry.path())) continue;
      ++files;
      for (const std::string& problem : violations(layers, i, includes_of(entry.path()))) {
        ADD_FAILURE() << fs::relative(entry.path(), kRoot).string() << ": " << problem;
      }
    }
  }
  EXPECT_GT(files, 200U);
}

TEST(Layers, EveryFolderWithSourcesIsListed) {
  const std::vector<Layer> layers = read_layers();
  std::set<std::string> tops;
  for (const Layer& layer : layers) tops.insert(layer.folder.substr(0, layer.folder.find('/')));
  for (const std::string& top : tops) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      if (!is_source(entry.path())) continue;
      const std::string folder = fs::relative(entry.path().parent_path(), kRoot).string();
      EXPECT_TRUE(std::ranges::count(layers, folder, &Layer::folder)) << folder;
    }
  }
}

TEST(Layers, AnIncludeThatPointsUpIsFound) {
  const std::vector<Layer> layers = {{.folder = "core", .is_plain = true},
                                     {.folder = "models", .is_plain = false},
                                     {.folder = "plots", .is_plain = true}};
  EXPECT_TRUE(violations(layers, 1, {.project = {"core/error.h", "models/loss.h"}, .torch = {"ATen/ATen.h"}})
                  .empty());
  EXPECT_EQ(violations(layers, 0, {.project = {"models/loss.h"}, .torch = {}}).size(), 1U);
  EXPECT_EQ(violations(layers, 2, {.project = {"models/loss.h"}, .torch = {"ATen/ATen.h"}}).size(), 2U);
  EXPECT_EQ(violations(layers, 2, {.project = {"elsewhere/x.h"}, .torch = {}}).size(), 1U);
}

}  // namespace
}  // namespace che
