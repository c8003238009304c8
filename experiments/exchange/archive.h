#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct archive;  // libarchive's.

namespace che {

// Archives are packed and read by libarchive, in a form that allows only one way to write them. They hold
// regular files with owner 0, time 0 and mode 644, in the order in which they are added.

// Packs files into memory. Throws Error (runtime) where libarchive fails.
class Packer {
 public:
  // POSIX ustar, the same compressed with Zstandard as one frame, or zip without compression.
  enum class Format { kTar, kCompressedTar, kZip };

  explicit Packer(Format format);
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  void add(const std::string& path, std::string_view content);
  // Returns what has been packed since the last call; a compressor holds some of it back.
  std::string take();
  // Returns the rest.
  std::string finish();

 private:
  void check(std::ptrdiff_t result) const;

  std::string bytes_;
  std::unique_ptr<archive, int (*)(archive*)> output_;
};

// The largest file that an archive may hold, and the limit of all its files together.
struct ArchiveLimits {
  std::size_t file_bytes = std::size_t{64} << 20;
  std::size_t all_bytes = std::size_t{4} << 30;
};

// Says why a file in an archive cannot have this path; empty where it can. Allowed are components of letters,
// digits, '.', '_', '-' and '+', joined by '/' and neither "." nor "..", that fit into a ustar header.
std::string archived_path_problem(std::string_view path);

// Writes NAME.tar.zst, which `tar xf` reads too: one frame of Zstandard with a ustar archive, and behind it a
// skippable frame with the SHA-256 of all bytes before. Without a successful `finish` the file at the path is
// as it was before.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(std::filesystem::path path, const ArchiveLimits& limits = {})
      : path_(std::move(path)), limits_(limits) {}

  // Throws Error (usage) for a path that no archive may have, and beyond the limits of size.
  void add(const std::string& path, std::string_view content);
  // Returns the SHA-256 of the finished file. Throws Error (runtime) when the disk refuses.
  std::string finish();

 private:
  std::filesystem::path path_;
  ArchiveLimits limits_;
  std::size_t unpacked_ = 0;
  Packer packer_{Packer::Format::kCompressedTar};
};

struct ArchivedFile {
  std::string path;
  std::string content;
};

// Reads an archive, file by file; nothing is unpacked to the disk. Throws Error (usage) for whatever
// ArchiveWriter does not write: a link, a device, a folder, a path that leaves the archive, a file that is
// too large, another owner, time or order of bytes. It names the archive and the file in it that was being
// read.
class ArchiveReader {
 public:
  // Throws Error as read_input_file does, and (usage) for a file that is no archive or is cut off.
  explicit ArchiveReader(const std::filesystem::path& path, const ArchiveLimits& limits = {});
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // Returns the next file, or nothing behind the last, when the whole archive has been read.
  std::optional<ArchivedFile> next();

  // Whether no byte has changed. Damage of the compressed bytes may show in a file first.
  bool is_whole() const { return is_whole_; }
  // The SHA-256 of the archive.
  const std::string& digits() const { return digits_; }

 private:
  [[noreturn]] void fail(std::string_view problem) const;
  // Returns what libarchive does, unless that is a failure.
  std::size_t check(std::ptrdiff_t result, archive* input) const;
  std::string read(archive* input, std::size_t bytes) const;
  // Throws unless the archive goes on with these bytes.
  void compare(const std::string& packed) const;

  ArchiveLimits limits_;
  std::string name_;
  std::string content_;
  std::string at_;  // The last file that was begun.
  std::size_t unpacked_ = 0;
  bool is_whole_ = false;
  std::string digits_;
  std::unique_ptr<archive, int (*)(archive*)> files_;
  std::unique_ptr<archive, int (*)(archive*)> bytes_;  // Reads the archive as a whole, decompressed.
  Packer packer_{Packer::Format::kTar};  // Packs again what was read: an archive has to equal that.
};

}  // namespace che
