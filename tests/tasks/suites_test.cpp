// What a published suite measures must never change unseen: tests/golden/suites.txt has, for every suite, its
// lengths and samples, and for every task in every version a hash of samples that models are trained and
// tested on. A generator that draws other samples needs a new TaskEntry::version; a suite that means
// something else needs a new name. CHE_UPDATE_GOLDEN=1 adds lines and changes none.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/registry.h"
#include "tasks/suite.h"
#include "tasks/task.h"
#include "tests/golden_file.h"

namespace che {
namespace {

constexpr const char* kGolden = CHE_SOURCE_DIR "/tests/golden/suites.txt";

class Hash {
 public:
  void add(const Batch& batch) {
    for (const auto* symbols : {&batch.input, &batch.output, &batch.mask}) {
      value_ = XXH3_64bits_withSeed(symbols->data(), symbols->size(), value_);
    }
  }
  std::string digits() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0;
};

// The first, the last and some lengths between them.
std::vector<std::int64_t> some_lengths(const Suite& suite) {
  const std::vector<std::int64_t> lengths = suite.lengths();
  return {lengths.front(), lengths[lengths.size() / 4], lengths[lengths.size() / 2], lengths.back()};
}

std::string samples_of(const Suite& suite, const std::string& name) {
  const auto task = create_task(name);
  Hash tested;
  Hash trained;
  Batch batch;
  for (const std::int64_t length : some_lengths(suite)) {
    sample_batch(*task, evaluation_key(suite.evaluation_seed, length, 0), length, 64, batch);
    tested.add(batch);
  }
  for (const std::int64_t length : {suite.first_training_length, suite.last_training_length}) {
    const BatchKey key{.seed = 0, .purpose = Purpose::kData, .step = static_cast<std::uint64_t>(length)};
    sample_batch(*task, key, length, 64, batch);
    trained.add(batch);
  }
  return fmt::format("test {} training {}", tested.digits(), trained.digits());
}

// What each line of the file is about, and what it says of it.
std::map<std::string, std::string> lines_of_suites() {
  std::map<std::string, std::string> lines;
  for (const Suite& suite : suites()) {
    lines[suite.name] = fmt::format(
        "training {}..{}, test {}..{} in steps of {}, {} samples, seed {}, tasks {}",
        suite.first_training_length, suite.last_training_length, suite.first_length, suite.last_length,
        suite.length_step, suite.samples, suite.evaluation_seed, fmt::join(suite.tasks, " "));
    for (const std::string& task : suite.tasks) {
      const int version = Registry<TaskEntry>::instance().get(task).version;
      lines[fmt::format("{} {} version {}", suite.name, task, version)] = samples_of(suite, task);
    }
  }
  return lines;
}

std::map<std::string, std::string> golden_lines() {
  std::map<std::string, std::string> lines;
  std::ifstream file(kGolden);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) lines[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return lines;
}

TEST(Suites, AreFrozen) {
  std::map<std::string, std::string> golden = golden_lines();
  const bool is_updated = updates_golden();
  const std::map<std::string, std::string> present = lines_of_suites();
  for (const auto& [what, content] : present) {
    const auto found = golden.find(what);
    if (found != golden.end()) {
      EXPECT_EQ(found->second, content)
          << what << " has changed: give the task a new TaskEntry::version, or the suite a new name";
    } else if (is_updated) {
      golden[what] = content;
    } else {
      ADD_FAILURE() << what << " is not in " << kGolden << "; CHE_UPDATE_GOLDEN=1 adds it";
    }
  }
  // A version that is drawn no longer stays in the file, so that its number is not given again.
  std::set<std::string> names;
  for (const Suite& suite : suites()) names.insert(suite.name);
  for (const auto& [what, content] : golden) {
    EXPECT_TRUE(names.contains(what.substr(0, what.find(' ')))) << what << " is published and gone";
  }
  if (!is_updated) return;
  std::ofstream file(kGolden);
  for (const auto& [what, content] : golden) file << what << ": " << content << "\n";
}

}  // namespace
}  // namespace che
