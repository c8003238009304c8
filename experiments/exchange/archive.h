#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/files.h"
#include "experiments/exchange/sha256.h"

namespace che {

// Files as one file NAME.tar.zst, which `tar xf` unpacks, in a form that allows one way only to write them: a
// POSIX ustar archive of regular files whose owner is 0, whose time is 0 and whose mode is 644, compressed
// with Zstandard as one frame, and behind it a skippable frame with the SHA-256 of all bytes before.

// The largest file that an archive may hold.
inline constexpr std::size_t kMaxArchivedBytes = std::size_t{256} << 20;

// Why a file in an archive cannot be called so; empty where it can. Allowed: components of letters, digits,
// '.', '_', '-' and '+' that are neither "." nor "..", joined by '/', as many as a ustar header has room for.
std::string archived_path_problem(std::string_view path);

// Writes an archive. Without a successful `finish` the file at the path is as it was before.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(const std::filesystem::path& path);
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  // Throws Error (usage) for a path or a size that an archive does not hold.
  void add(std::string_view path, std::string_view content);
  // The SHA-256 of the finished file. Throws Error (runtime) when the disk refuses.
  std::string finish();

 private:
  struct Stream;
  void compress(std::string_view part, bool is_last);

  FileReplacement file_;
  Sha256 hash_;        // Of all but the last frame.
  Sha256 whole_hash_;  // Of the file.
  std::unique_ptr<Stream> stream_;
};

struct ArchivedFile {
  std::string path;
  std::string content;
};

// Reads an archive, file by file; nothing is unpacked to the disk. Throws Error (usage) that names the
// archive, and the file in it that it came to, for whatever ArchiveWriter does not write: a link, a device, a
// folder, a path that leaves the archive, a file that is too large, another owner, time or order of bytes.
class ArchiveReader {
 public:
  // Throws Error as read_input_file does, and (usage) for a file that is no archive or is cut off.
  explicit ArchiveReader(const std::filesystem::path& path);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // The next file; nothing behind the last, when the whole archive has been read.
  std::optional<ArchivedFile> next();

  // Whether every byte is as it was written. Damage of the compressed bytes may show in a file first.
  bool is_whole() const { return is_whole_; }
  // The SHA-256 of the archive.
  const std::string& digits() const { return digits_; }

 private:
  struct Stream;
  std::string read(std::size_t bytes);
  [[noreturn]] void fail(std::string_view problem) const;

  std::string name_;
  std::string content_;
  std::string at_;  // The last file that was begun.
  bool is_whole_ = false;
  std::string digits_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace che
