#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

namespace che {

// An empty folder in the test's temporary folder, removed with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            ("che-folder-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// For suites whose tests all need one.
class ScratchTest : public testing::Test {
 protected:
  const ScratchFolder scratch_;
};

}  // namespace che
