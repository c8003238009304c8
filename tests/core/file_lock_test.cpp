#include "core/file_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <optional>
#include <stdexcept>

#include "core/error.h"
#include "core/files.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"
#include "tests/unprivileged.h"

namespace che {
namespace {

namespace fs = std::filesystem;

Fault fault_of_lock(const fs::path& folder) {
  try {
    const FileLock lock(folder);
  } catch (const Error& error) {
    return error.fault();
  }
  throw std::logic_error("no error");
}

TEST(FileLock, IsHeldByOneAndSeenByOthers) {
  const ScratchFolder folder;
  EXPECT_FALSE(FileLock::is_held(folder.path()));
  EXPECT_FALSE(fs::exists(folder.path() / "lock")) << "looking created it";
  auto lock = std::make_optional<FileLock>(folder.path());
  EXPECT_TRUE(FileLock::is_held(folder.path()));
  expect_contains(message_of([&] { FileLock second(folder.path()); }), {"is in use by process"});
  FileLock moved = std::move(*lock);
  lock.reset();
  EXPECT_TRUE(FileLock::is_held(folder.path()));
  const std::optional<FileLock> last = std::move(moved);
  EXPECT_TRUE(FileLock::is_held(folder.path()));
}

TEST(FileLock, IsReleasedWithItsObject) {
  const ScratchFolder folder;
  { const FileLock lock(folder.path()); }
  EXPECT_FALSE(FileLock::is_held(folder.path()));
  const FileLock again(folder.path());
}

TEST(FileLock, TellsARefusalOfTheSystemFromAWrongPath) {
  const ScratchFolder folder;
  EXPECT_EQ(fault_of_lock(folder.path() / "absent"), Fault::kUsage);
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  {
    const Unprivileged user;
    EXPECT_EQ(fault_of_lock(folder.path()), Fault::kRuntime);
  }
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(FileLock, NeverTouchesWhatAPlantedLinkLeadsTo) {
  const ScratchFolder folder;
  const fs::path precious = folder.path() / "precious";
  write_file_atomically(precious, "content");
  for (const char* target : {"precious", "absent"}) {
    fs::create_symlink(folder.path() / target, folder.path() / "lock");
    expect_contains(message_of([&] { FileLock lock(folder.path()); }),
                    {(folder.path() / "lock").string(), "a symbolic link", "remove it"});
    EXPECT_EQ(fault_of_lock(folder.path()), Fault::kRuntime);
    EXPECT_FALSE(FileLock::is_held(folder.path()));
    fs::remove(folder.path() / "lock");
  }
  EXPECT_EQ(read_file(precious), "content");
  EXPECT_FALSE(fs::exists(folder.path() / "absent"));
}

TEST(FileLock, RefusesWhatIsNoFile) {
  const ScratchFolder folder;
  const fs::path lock = folder.path() / "lock";
  ASSERT_EQ(mkfifo(lock.c_str(), 0600), 0);
  expect_contains(message_of([&] { FileLock held(folder.path()); }), {lock.string(), "a FIFO", "remove it"});
  fs::remove(lock);
  fs::create_directory(lock);
  expect_contains(message_of([&] { FileLock held(folder.path()); }),
                  {lock.string(), "a folder", "remove it"});
}

TEST(FileLock, ClearsWhatKilledProcessesLeft) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / ".status.json.0123456789abcdef.tmp") << "torn";
  const FileLock lock(folder.path());
  EXPECT_FALSE(fs::exists(folder.path() / ".status.json.0123456789abcdef.tmp"));
}

}  // namespace
}  // namespace che
