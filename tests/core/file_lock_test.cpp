#include "core/file_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>

#include "core/error.h"
#include "core/files.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"
#include "tests/unprivileged.h"

namespace che {
namespace {

namespace fs = std::filesystem;

ErrorKind kind_of_lock_error(const fs::path& folder) {
  try {
    const FileLock lock(folder);
  } catch (const Error& error) {
    return error.kind();
  }
  throw std::logic_error("no error");
}

// A process on another machine.
LockHolder elsewhere() {
  LockHolder holder = this_process();
  holder.host = "elsewhere";
  holder.boot = "another";
  return holder;
}

// Makes the newest lock of the folder one that `holder` had `silent_seconds` ago; returns its file.
fs::path hold(const fs::path& folder, const LockHolder& holder, int silent_seconds) {
  static int number = 0;
  number += 10;
  const fs::path file = folder / ("lock." + std::to_string(number));
  std::ofstream(file) << "held\n" << to_text(holder);
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(silent_seconds));
  return file;
}

bool can_lock(const fs::path& folder, const LockHolder& holder = this_process()) {
  LockRefusal refusal;
  return FileLock::try_hold(folder, refusal, holder).has_value();
}

TEST(FileLock, IsHeldByOneAndSeenByOthers) {
  const ScratchFolder folder;
  EXPECT_FALSE(FileLock::is_held(folder.path()));
  EXPECT_TRUE(fs::is_empty(folder.path())) << "looking created something";
  auto lock = std::make_optional<FileLock>(folder.path());
  EXPECT_TRUE(FileLock::is_held(folder.path()));
  expect_contains(message_of([&] { FileLock second(folder.path()); }), {"is in use by process"});
  FileLock moved = std::move(*lock);
  lock.reset();
  EXPECT_TRUE(FileLock::is_held(folder.path()));
  std::optional<FileLock> last = std::move(moved);
  EXPECT_TRUE(FileLock::is_held(folder.path()));
  last->check();
  last.reset();
  EXPECT_FALSE(FileLock::is_held(folder.path()));
}

TEST(FileLock, IsReleasedWithItsObjectAndLeavesOneFile) {
  const ScratchFolder folder;
  for (int i = 0; i < 3; ++i) const FileLock lock(folder.path());
  EXPECT_FALSE(FileLock::is_held(folder.path()));
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_EQ("lock.3", entry.path().filename());
  EXPECT_TRUE(is_lock_file("lock.3"));
  for (const char* other : {"lock.3.tmp", "lock.03", "lock.18446744073709551615"}) {
    EXPECT_FALSE(is_lock_file(other)) << other;
  }
}

TEST(FileLock, OfAProcessOfThisSystemEndsWithIt) {
  const ScratchFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    new FileLock(folder.path());  // Never given back.
    _exit(0);
  }
  ASSERT_EQ(child, waitpid(child, nullptr, 0));
  EXPECT_FALSE(FileLock::is_held(folder.path()));
  EXPECT_TRUE(can_lock(folder.path()));
  LockHolder stopped = this_process();
  hold(folder.path(), stopped, 1'000'000);
  EXPECT_FALSE(can_lock(folder.path())) << "a process that is there may be stopped for any time";
  stopped.start = 1;
  hold(folder.path(), stopped, 0);
  EXPECT_TRUE(can_lock(folder.path())) << "another process has its number now";
}

TEST(FileLock, OfAnotherMachineEndsWithItsHeartbeat) {
  const ScratchFolder folder;
  const fs::path file = hold(folder.path(), elsewhere(), 14 * 60);
  LockRefusal refusal;
  EXPECT_FALSE(FileLock::try_hold(folder.path(), refusal));
  EXPECT_TRUE(refusal.is_silent);
  expect_contains(refusal.text, {"on elsewhere", "last heard of 840 s ago", "remove " + file.string()});
  EXPECT_TRUE(FileLock::is_held(folder.path()));
  hold(folder.path(), elsewhere(), 10);
  EXPECT_FALSE(FileLock::try_hold(folder.path(), refusal));
  EXPECT_FALSE(refusal.is_silent);
  hold(folder.path(), elsewhere(), 15 * 60 + 2);
  EXPECT_FALSE(FileLock::is_held(folder.path()));
  EXPECT_TRUE(can_lock(folder.path()));
}

TEST(FileLock, OfATaskEndsWithItsRestart) {
  const ScratchFolder folder;
  LockHolder first = elsewhere();
  first.task = "7_1";
  LockHolder again = this_process();
  again.task = "7_1";
  hold(folder.path(), first, 0);
  EXPECT_FALSE(can_lock(folder.path(), again)) << "two processes of one task";
  again.restart = 1;
  EXPECT_TRUE(can_lock(folder.path(), again));
  again.task = "7_2";
  hold(folder.path(), first, 0);
  EXPECT_FALSE(can_lock(folder.path(), again));
  first.restart = 2;
  again.task = "7_1";
  hold(folder.path(), first, 0);
  EXPECT_FALSE(can_lock(folder.path(), again)) << "the older one takes nothing back";
}

TEST(FileLock, OfAHostThatHasStartedAgainSinceIsTakenOver) {
  const ScratchFolder folder;
  LockHolder before = this_process();
  before.boot = "before";
  LockHolder now = this_process();
  now.up_seconds = 300;
  hold(folder.path(), before, 400);
  EXPECT_TRUE(can_lock(folder.path(), now));
  hold(folder.path(), before, 200);
  EXPECT_FALSE(can_lock(folder.path(), now)) << "heard of since: another machine of the same name";
  now.up_seconds = 20;
  hold(folder.path(), before, 60);
  EXPECT_FALSE(can_lock(folder.path(), now)) << "too soon to tell";
}

TEST(FileLock, IsTouchedWhileItIsHeld) {
  const ScratchFolder folder;
  LockRefusal refusal;
  const auto lock = FileLock::try_hold(folder.path(), refusal, this_process(), {.heartbeat_seconds = 0.02});
  const fs::path file = folder.path() / "lock.1";
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto is_fresh = [&] {
    return fs::last_write_time(file) > fs::file_time_type::clock::now() - std::chrono::minutes(1);
  };
  for (int i = 0; i < 500 && !is_fresh(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(is_fresh());
}

TEST(FileLock, TellsItsFormerHolderThatItWasTakenOver) {
  const ScratchFolder folder;
  LockRefusal refusal;
  auto former = FileLock::try_hold(folder.path(), refusal, elsewhere());
  ASSERT_TRUE(former);
  former->check();
  fs::last_write_time(folder.path() / "lock.1", fs::file_time_type::clock::now() - std::chrono::minutes(16));
  const auto now = FileLock::try_hold(folder.path(), refusal);
  ASSERT_TRUE(now);
  expect_contains(message_of([&] { former->check(); }),
                  {"was taken over by process " + std::to_string(getpid()), "writes nothing more"});
  former.reset();
  now->check();
  EXPECT_TRUE(FileLock::is_held(folder.path())) << "the former holder gave back what is not its";
}

TEST(FileLock, MissesALockThatWasRemoved) {
  const ScratchFolder folder;
  const FileLock lock(folder.path());
  fs::remove(folder.path() / "lock.1");
  expect_contains(message_of([&] { lock.check(); }), {"or its lock was removed"});
}

TEST(FileLock, OfUnknownContentHoldsLikeOneOfAnotherMachine) {
  const ScratchFolder folder;
  const fs::path file = folder.path() / "lock.3";
  std::ofstream(file) << "hel";
  EXPECT_FALSE(can_lock(folder.path()));
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(16));
  EXPECT_TRUE(can_lock(folder.path()));
}

TEST(FileLock, TellsARefusalOfTheSystemFromAWrongPath) {
  const ScratchFolder folder;
  EXPECT_EQ(kind_of_lock_error(folder.path() / "absent"), ErrorKind::kUsage);
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  {
    const Unprivileged user;
    EXPECT_EQ(kind_of_lock_error(folder.path()), ErrorKind::kRuntime);
  }
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(FileLock, NeverTouchesWhatAPlantedLinkLeadsTo) {
  const ScratchFolder folder;
  const fs::path precious = folder.path() / "precious";
  write_file_atomically(precious, "content");
  for (const char* target : {"precious", "absent"}) {
    fs::create_symlink(folder.path() / target, folder.path() / "lock.1");
    expect_contains(message_of([&] { FileLock lock(folder.path()); }),
                    {(folder.path() / "lock.1").string(), "a symbolic link", "remove it"});
    EXPECT_EQ(kind_of_lock_error(folder.path()), ErrorKind::kRuntime);
    EXPECT_FALSE(FileLock::is_held(folder.path()));
    fs::remove(folder.path() / "lock.1");
  }
  EXPECT_EQ(read_file(precious), "content");
  EXPECT_FALSE(fs::exists(folder.path() / "absent"));
}

TEST(FileLock, RefusesWhatIsNoFile) {
  const ScratchFolder folder;
  const fs::path lock = folder.path() / "lock.1";
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

TEST(LockHolder, IsReadAsItWasWritten) {
  LockHolder holder = this_process();
  holder.task = "12_3.1";
  holder.restart = 4;
  const auto read = parse_lock_holder(to_text(holder));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), to_text(holder));
  EXPECT_TRUE(is_on_same_system(*read, this_process()));
  EXPECT_TRUE(is_running(*read));
  EXPECT_FALSE(parse_lock_holder("host a\n"));
  for (const std::int64_t process : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 40}) {
    holder.process = process;
    EXPECT_FALSE(parse_lock_holder(to_text(holder))) << process;
  }
}

}  // namespace
}  // namespace che
