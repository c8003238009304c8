#include "core/file_lock.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "core/error.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(FileLock, IsHeldByOneAndSeenByOthers) {
  const ScratchFolder folder;
  const auto path = folder.path() / "lock";
  EXPECT_FALSE(FileLock::is_held(path));
  EXPECT_FALSE(std::filesystem::exists(path)) << "a look made it";
  auto lock = std::make_optional<FileLock>(path);
  EXPECT_TRUE(FileLock::is_held(path));
  EXPECT_NE(message_of([&] { FileLock second(path); }).find("is being worked on by process"),
            std::string::npos);
  lock.reset();
  EXPECT_FALSE(FileLock::is_held(path));
}

TEST(FileLock, TellsARefusalOfTheSystemFromAWrongPath) {
  const ScratchFolder folder;
  const auto fault = [](const std::filesystem::path& path) {
    try {
      const FileLock lock(path);
    } catch (const Error& error) {
      return error.fault();
    }
    throw std::logic_error("no error");
  };
  EXPECT_EQ(fault(folder.path() / "absent" / "lock"), Fault::kUsage);
  EXPECT_EQ(fault("/proc/sys/kernel/version"), Fault::kRuntime);  // Read-only for root, too.
}

}  // namespace
}  // namespace che
