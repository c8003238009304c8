// The configs of configs/, and ids of stored runs, with the real encodings.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/files.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_config.h"
#include "experiments/plan/sweep.h"
#include "tests/contains.h"

namespace che {
namespace {

std::vector<std::filesystem::path> config_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(CHE_SOURCE_DIR "/configs")) {
    files.push_back(entry.path());
  }
  return files;
}

class EveryConfig : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(EveryConfig, ExpandsWithoutAWarning) {
  ASSERT_EQ(GetParam().extension(), ".yaml");
  const Sweep sweep =
      read_sweep(GetParam(), {}, {}, [](const std::string& warning) { ADD_FAILURE() << warning; });
  EXPECT_EQ(sweep.name, GetParam().stem());
  EXPECT_FALSE(sweep.description.empty()) << "che check shows it";
  EXPECT_FALSE(sweep.runs.empty());
}

INSTANTIATE_TEST_SUITE_P(Configs, EveryConfig, testing::ValuesIn(config_files()),
                         [](const testing::TestParamInfo<std::filesystem::path>& file) {
                           return file.param.stem().string();
                         });

RunConfig run_with(const std::string& task, const std::string& encoding) {
  return parse_run_config("{task: " + task + ", encoding: " + encoding + "}", "x.yaml");
}

// Every setting stands in the docs, most of them with their default.
TEST(Settings, StandInTheDocs) {
  const std::string page = read_file(CHE_SOURCE_DIR "/docs/configuration.md");
  for (const FieldRecord& field : list_fields(RunConfig())) {
    const std::string group = field.path.substr(0, field.path.find('.'));
    if (group == "task" || group == "encoding") continue;
    const bool is_result = group != "execution" && group != "log";
    const std::string row = "| `" + field.path + "` |" + (is_result ? " `" + field.value + "` |" : "");
    EXPECT_TRUE(contains(page, row)) << row;
  }
}

// Ids of stored runs: a field that was renamed keeps them.
TEST(StoredIds, OfRenamedFieldsStayAsTheyAre) {
  const auto id = [](const std::string& task, const std::string& encoding) {
    return run_id(run_with(task, encoding));
  };
  EXPECT_EQ(id("even_pairs", "{name: t5, table: per_layer}"), "even_pairs-t5-lr0.0003-seed0-13a42039c1ac");
  EXPECT_EQ(id("even_pairs", "{name: fire, normalizer: query}"),
            "even_pairs-fire-lr0.0003-seed0-78d1a402fd67");
  EXPECT_EQ(id("even_pairs", "{name: fire, length: 100}"), "even_pairs-fire-lr0.0003-seed0-232329d85ce8");
  EXPECT_EQ(id("{name: odds_first, order: odd_first}", "rope"),
            "odds_first-rope-lr0.0003-seed0-c294376270fb");
  EXPECT_EQ(cell_id(run_with("even_pairs", "{name: t5, table: per_layer}")), "even_pairs-t5-5a10cea69590");
}

}  // namespace
}  // namespace che
