#include "core/file_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include "core/files.h"
#include "tests/contains.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"
#include "tests/unprivileged.h"

namespace che {
namespace {

using FileLockTest = ScratchTest;

namespace fs = std::filesystem;

void expect_no_lock(const fs::path& folder, ErrorKind kind, const std::vector<std::string>& parts = {}) {
  expect_error(kind, parts, [&] { FileLock lock(folder); });
}

// Returns a holder that runs on another machine.
LockHolder elsewhere() {
  LockHolder holder = this_process();
  holder.host = "elsewhere";
  holder.boot = "another";
  return holder;
}

// Makes the newest lock of the folder one that `holder` touched `silent_seconds` ago, and returns its file.
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

TEST_F(FileLockTest, IsHeldByOneAndSeenByOthers) {
  EXPECT_FALSE(FileLock::is_held(scratch_.path()));
  EXPECT_TRUE(fs::is_empty(scratch_.path())) << "looking created something";
  auto lock = std::make_optional<FileLock>(scratch_.path());
  EXPECT_TRUE(FileLock::is_held(scratch_.path()));
  expect_contains(message_of([&] { FileLock second(scratch_.path()); }), {"is in use by process"});
  FileLock moved = std::move(*lock);
  lock.reset();
  EXPECT_TRUE(FileLock::is_held(scratch_.path()));
  std::optional<FileLock> last = std::move(moved);
  EXPECT_TRUE(FileLock::is_held(scratch_.path()));
  last->check();
  last.reset();
  EXPECT_FALSE(FileLock::is_held(scratch_.path()));
}

TEST_F(FileLockTest, IsReleasedWithItsObjectAndLeavesOneFile) {
  for (int i = 0; i < 3; ++i) const FileLock lock(scratch_.path());
  EXPECT_FALSE(FileLock::is_held(scratch_.path()));
  for (const auto& entry : fs::directory_iterator(scratch_.path()))
    EXPECT_EQ("lock.3", entry.path().filename());
  EXPECT_TRUE(is_lock_file("lock.3"));
  for (const char* other : {"lock.3.tmp", "lock.03", "lock.18446744073709551615"}) {
    EXPECT_FALSE(is_lock_file(other)) << other;
  }
}

TEST_F(FileLockTest, EndsWithItsProcessOnThisSystem) {
  const pid_t child = fork();
  if (child == 0) {
    new FileLock(scratch_.path());  // It is never released.
    _exit(0);
  }
  ASSERT_EQ(child, waitpid(child, nullptr, 0));
  EXPECT_FALSE(FileLock::is_held(scratch_.path()));
  EXPECT_TRUE(can_lock(scratch_.path()));
  LockHolder stopped = this_process();
  hold(scratch_.path(), stopped, 1'000'000);
  EXPECT_FALSE(can_lock(scratch_.path())) << "a process that is there may be stopped for any time";
  stopped.start = 1;
  hold(scratch_.path(), stopped, 0);
  EXPECT_TRUE(can_lock(scratch_.path())) << "another process has its number now";
}

TEST_F(FileLockTest, EndsWithItsHeartbeatOnAnotherMachine) {
  const fs::path file = hold(scratch_.path(), elsewhere(), 14 * 60);
  LockRefusal refusal;
  EXPECT_FALSE(FileLock::try_hold(scratch_.path(), refusal));
  EXPECT_TRUE(refusal.is_silent);
  expect_contains(refusal.text, {"on elsewhere", "last heard of 840 s ago", "counts as dead after 900 s",
                                 "touch -d '1 hour ago' " + file.string()});
  EXPECT_TRUE(FileLock::is_held(scratch_.path()));
  hold(scratch_.path(), elsewhere(), 10);
  EXPECT_FALSE(FileLock::try_hold(scratch_.path(), refusal));
  EXPECT_FALSE(refusal.is_silent);
  hold(scratch_.path(), elsewhere(), 15 * 60 + 2);
  EXPECT_FALSE(FileLock::is_held(scratch_.path()));
  EXPECT_TRUE(can_lock(scratch_.path()));
}

// The clock was set back since, or somebody else set the time.
TEST_F(FileLockTest, EndsWhereItsTimeIsFarAhead) {
  hold(scratch_.path(), elsewhere(), -14 * 60);
  LockRefusal refusal;
  EXPECT_FALSE(FileLock::try_hold(scratch_.path(), refusal));
  EXPECT_TRUE(refusal.is_silent);
  expect_contains(refusal.text, {"on elsewhere", "(its file's time is 8", " s ahead;", "dead after 900 s"});
  hold(scratch_.path(), elsewhere(), -15 * 60 - 20);
  EXPECT_FALSE(FileLock::is_held(scratch_.path()));
  EXPECT_TRUE(can_lock(scratch_.path()));
  hold(scratch_.path(), this_process(), -15 * 60 - 20);
  EXPECT_FALSE(can_lock(scratch_.path())) << "its process runs";
}

TEST_F(FileLockTest, EndsWhenItsTaskRestarts) {
  LockHolder first = elsewhere();
  first.task = "7_1";
  LockHolder again = this_process();
  again.task = "7_1";
  hold(scratch_.path(), first, 0);
  EXPECT_FALSE(can_lock(scratch_.path(), again)) << "two processes of one task";
  again.restart = 1;
  EXPECT_TRUE(can_lock(scratch_.path(), again));
  again.task = "7_2";
  hold(scratch_.path(), first, 0);
  EXPECT_FALSE(can_lock(scratch_.path(), again));
  first.restart = 2;
  again.task = "7_1";
  hold(scratch_.path(), first, 0);
  EXPECT_FALSE(can_lock(scratch_.path(), again)) << "the older one takes nothing back";
}

TEST_F(FileLockTest, IsTakenOverAfterItsHostHasRestarted) {
  LockHolder before = this_process();
  before.boot = "before";
  LockHolder now = this_process();
  now.up_seconds = 300;
  hold(scratch_.path(), before, 400);
  EXPECT_TRUE(can_lock(scratch_.path(), now));
  hold(scratch_.path(), before, 200);
  EXPECT_FALSE(can_lock(scratch_.path(), now))
      << "its heartbeat is newer than the restart: another machine has this name";
  now.up_seconds = 20;
  hold(scratch_.path(), before, 60);
  EXPECT_FALSE(can_lock(scratch_.path(), now)) << "too soon to tell";
}

TEST_F(FileLockTest, IsTouchedWhileItIsHeld) {
  LockRefusal refusal;
  const auto lock = FileLock::try_hold(scratch_.path(), refusal, this_process(), {.heartbeat_seconds = 0.02});
  const fs::path file = scratch_.path() / "lock.1";
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto is_fresh = [&] {
    return fs::last_write_time(file) > fs::file_time_type::clock::now() - std::chrono::minutes(1);
  };
  for (int i = 0; i < 500 && !is_fresh(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(is_fresh());
}

TEST_F(FileLockTest, TellsItsFormerHolderThatItWasTakenOver) {
  LockRefusal refusal;
  auto former = FileLock::try_hold(scratch_.path(), refusal, elsewhere());
  ASSERT_TRUE(former);
  former->check();
  fs::last_write_time(scratch_.path() / "lock.1",
                      fs::file_time_type::clock::now() - std::chrono::minutes(16));
  const auto now = FileLock::try_hold(scratch_.path(), refusal);
  ASSERT_TRUE(now);
  expect_contains(message_of([&] { former->check(); }),
                  {"was taken over by process " + std::to_string(getpid()), "writes nothing more"});
  former.reset();
  now->check();
  EXPECT_TRUE(FileLock::is_held(scratch_.path())) << "the former holder gave back what is not its";
}

// It may have slept at any moment of writing a file.
TEST_F(FileLockTest, LetsItsFormerHolderReplaceNoFile) {
  const fs::path file = scratch_.path() / "file";
  write_file_atomically(file, "first");
  const FileLock former(scratch_.path());
  FileReplacement begun(file);
  begun.write("of the former holder");
  const std::string taken_over = "was taken over by process " + std::to_string(getpid()) + " on elsewhere";
  std::ofstream(scratch_.path() / "lock.2") << "held\n" << to_text(elsewhere());
  expect_contains(message_of([&] { begun.finish(); }), {taken_over});
  expect_contains(message_of([&] { write_file_atomically(file, "later"); }), {taken_over});
  EXPECT_EQ(read_file(file), "first");
}

TEST_F(FileLockTest, RemovesWhatASilentHolderBeganToWrite) {
  hold(scratch_.path(), elsewhere(), 0);
  const fs::path file = scratch_.path() / "file";
  FileReplacement begun(file);
  begun.write("of the silent holder");
  hold(scratch_.path(), elsewhere(), 16 * 60);
  const FileLock lock(scratch_.path());
  expect_error(ErrorKind::kRuntime, {"cannot write"}, [&] { begun.finish(); });
  EXPECT_FALSE(fs::exists(file));
  write_file_atomically(file, "of the new one");
  EXPECT_EQ(read_file(file), "of the new one");
}

TEST_F(FileLockTest, MissesALockThatWasRemoved) {
  const FileLock lock(scratch_.path());
  fs::remove(scratch_.path() / "lock.1");
  expect_contains(message_of([&] { lock.check(); }), {"or its lock was removed"});
}

// The next lock has its number.
TEST_F(FileLockTest, IsNotMistakenForOneThatWasRemoved) {
  const fs::path file = scratch_.path() / "file";
  write_file_atomically(file, "first");
  std::optional<FileLock> lock(scratch_.path());
  FileReplacement begun(file);
  begun.write("of the first holder");
  fs::remove(scratch_.path() / "lock.1");
  std::ofstream(scratch_.path() / "lock.1") << "held\n" << to_text(elsewhere());
  const std::string taken_over = "was taken over by process " + std::to_string(getpid()) + " on elsewhere";
  expect_contains(message_of([&] { lock->check(); }), {taken_over, "or its lock was removed"});
  expect_contains(message_of([&] { begun.finish(); }), {taken_over});
  EXPECT_EQ(read_file(file), "first");
  // The end of the first lock does not end the guard of the second.
  fs::remove(scratch_.path() / "lock.1");
  LockRefusal refusal;
  const auto newer = FileLock::try_hold(scratch_.path(), refusal, elsewhere());
  ASSERT_TRUE(newer && fs::exists(scratch_.path() / "lock.1"));
  newer->check();
  lock.reset();
  fs::remove(scratch_.path() / "lock.1");
  expect_contains(message_of([&] { write_file_atomically(file, "later"); }), {"was taken over"});
}

TEST_F(FileLockTest, WithUnknownContentHoldsLikeOneOfAnotherMachine) {
  const fs::path file = scratch_.path() / "lock.3";
  std::ofstream(file) << "hel";
  EXPECT_FALSE(can_lock(scratch_.path()));
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(16));
  EXPECT_TRUE(can_lock(scratch_.path()));
}

// More than the memory holds, with nothing on the disk.
TEST_F(FileLockTest, IsNotReadToTheEndOfALongFile) {
  const fs::path file = scratch_.path() / "lock.3";
  std::ofstream(file) << "held ";
  fs::resize_file(file, std::uintmax_t{1} << 40);
  EXPECT_FALSE(can_lock(scratch_.path()));
}

TEST_F(FileLockTest, TellsARefusalOfTheSystemFromAWrongPath) {
  expect_no_lock(scratch_.path() / "absent", ErrorKind::kUsage);
  fs::permissions(scratch_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  {
    const Unprivileged user;
    expect_no_lock(scratch_.path(), ErrorKind::kRuntime);
  }
  fs::permissions(scratch_.path(), fs::perms::owner_all);
}

// The next number would not be seen by others.
TEST_F(FileLockTest, RefusesTheLastNumber) {
  std::ofstream(scratch_.path() / "lock.1000000000000") << "free";
  expect_no_lock(scratch_.path(), ErrorKind::kUsage, {"lock.1000000000000", "remove it"});
}

TEST_F(FileLockTest, NeverTouchesWhatAPlantedLinkLeadsTo) {
  const fs::path precious = scratch_.path() / "precious";
  write_file_atomically(precious, "content");
  for (const char* target : {"precious", "absent"}) {
    fs::create_symlink(scratch_.path() / target, scratch_.path() / "lock.1");
    expect_no_lock(scratch_.path(), ErrorKind::kRuntime,
                   {(scratch_.path() / "lock.1").string(), "a symbolic link", "remove it"});
    EXPECT_FALSE(FileLock::is_held(scratch_.path()));
    fs::remove(scratch_.path() / "lock.1");
  }
  EXPECT_EQ(read_file(precious), "content");
  EXPECT_FALSE(fs::exists(scratch_.path() / "absent"));
}

TEST_F(FileLockTest, RefusesWhatIsNoFile) {
  const fs::path lock = scratch_.path() / "lock.1";
  ASSERT_EQ(mkfifo(lock.c_str(), 0600), 0);
  expect_no_lock(scratch_.path(), ErrorKind::kRuntime, {lock.string(), "a FIFO", "remove it"});
  fs::remove(lock);
  fs::create_directory(lock);
  expect_no_lock(scratch_.path(), ErrorKind::kRuntime, {lock.string(), "a folder", "remove it"});
}

TEST_F(FileLockTest, ClearsWhatKilledProcessesLeft) {
  std::ofstream(scratch_.path() / ".status.json.0123456789abcdef.tmp") << "torn";
  const FileLock lock(scratch_.path());
  EXPECT_FALSE(fs::exists(scratch_.path() / ".status.json.0123456789abcdef.tmp"));
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
