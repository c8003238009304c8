#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "tasks/task.h"
#include "tests/tasks/oracle.h"

namespace che {

// The name of a task; instantiated over the whole registry.
class EveryTask : public testing::TestWithParam<std::string> {
 protected:
  const std::string& name() const { return GetParam(); }

  std::unique_ptr<Task> task_ = create_task(GetParam());
};

inline auto registered_tasks() { return testing::ValuesIn(Registry<TaskEntry>::instance().names()); }

inline std::string task_test_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

inline Batch batch_of(const Task& task, const BatchKey& key, std::int64_t length, std::int64_t size) {
  Batch batch;
  sample_batch(task, key, length, size, batch);
  return batch;
}

// Row `row` of an array of rows of `width` symbols.
inline Symbols row_of(const std::vector<std::uint8_t>& rows, std::int64_t width, std::int64_t row) {
  const auto begin = rows.begin() + row * width;
  return Symbols(begin, begin + width);
}

// The recorded samples of the published program; CHE_REFERENCE_DIR overrides the folder.
inline std::filesystem::path reference_folder() {
  const char* folder = std::getenv("CHE_REFERENCE_DIR");
  return folder != nullptr ? folder : CHE_SOURCE_DIR "/tests/reference";
}

}  // namespace che
