#include "experiments/exchange/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <new>

#include "core/error.h"
#include "core/files.h"
#include "core/hashes.h"
#include "core/text.h"

namespace che {
namespace {

constexpr std::size_t kMaxPackedBytes = std::size_t{1} << 30;
// A ustar header has room for so many bytes of a path's last components and of the components before them.
constexpr std::size_t kNameBytes = 100;
constexpr std::size_t kPrefixBytes = 155;
// A skippable frame of 32 bytes begins with its magic number and its size, little-endian.
constexpr std::string_view kLastFrame("\x50\x2a\x4d\x18\x20\x00\x00\x00", 8);
constexpr std::size_t kHashBytes = 32;

std::string reason_of(archive* handle) {
  const char* const reason = archive_error_string(handle);
  return reason == nullptr ? "no reason is known" : one_line(reason);
}

// Opens the frame in this format alone. A filter that is appended is not guessed: nothing but Zstandard is
// taken, once.
void open_frame(archive* input, std::string_view frame, int format) {
  archive_read_append_filter(input, ARCHIVE_FILTER_ZSTD);
  archive_read_set_format(input, format);
  archive_read_open_memory(input, frame.data(), frame.size());
}

// Says what an entry is; empty for a regular file.
std::string_view kind_of(archive_entry* entry) {
  const auto type = archive_entry_filetype(entry);
  if (archive_entry_hardlink(entry) != nullptr || type == AE_IFLNK) return "a link";
  if (type == AE_IFREG) return "";
  return type == AE_IFDIR ? "a folder" : "a device or FIFO";
}

}  // namespace

Packer::Packer(Format format) : output_(archive_write_new(), archive_write_free) {
  archive* const output = output_.get();
  if (format == Format::kZip) {
    check(archive_write_set_format_zip(output));
    check(archive_write_zip_set_compression_store(output));
  } else {
    check(archive_write_set_format_ustar(output));
  }
  if (format == Format::kCompressedTar) {
    check(archive_write_add_filter_zstd(output));
    check(archive_write_set_filter_option(output, "zstd", "compression-level", "10"));
  }
  check(archive_write_set_bytes_per_block(output, 0));
  const auto append = [](archive*, void* bytes, const void* part, std::size_t size) -> la_ssize_t {
    try {
      static_cast<std::string*>(bytes)->append(static_cast<const char*>(part), size);
    } catch (const std::bad_alloc&) {
      return -1;  // No exception may pass through C.
    }
    return static_cast<la_ssize_t>(size);
  };
  check(archive_write_open(output, &bytes_, nullptr, append, nullptr));
}

void Packer::check(std::ptrdiff_t result) const {
  if (result >= 0) return;
  throw Error(fmt::format("cannot pack: {}", reason_of(output_.get())), ErrorKind::kRuntime);
}

void Packer::add(const std::string& path, std::string_view content) {
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                            archive_entry_free);
  archive_entry_set_pathname(entry.get(), path.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  check(archive_write_header(output_.get(), entry.get()));
  check(archive_write_data(output_.get(), content.data(), content.size()));
  check(archive_write_finish_entry(output_.get()));
}

std::string Packer::take() { return std::exchange(bytes_, {}); }

std::string Packer::finish() {
  check(archive_write_close(output_.get()));
  return take();
}

std::string archived_path_problem(std::string_view path) {
  const auto allowed = [](char c) { return is_name_character(c) || c == '+' || c == '/'; };
  if (!std::ranges::all_of(path, allowed)) return "a character that is none of letters, digits and ._-+";
  std::string_view rest = path;
  while (true) {
    const std::size_t end = rest.find('/');
    const std::string_view part = rest.substr(0, end);
    if (part.empty()) return "an absolute path or an empty component";
    if (part == "." || part == "..") return "a path that leaves the archive";
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (path.size() <= kNameBytes) return "";
  const std::size_t slash = path.rfind('/');
  // Without a slash, this is larger than any prefix.
  const bool fits = slash <= kPrefixBytes && path.size() - slash - 1 <= kNameBytes;
  return fits ? "" : "a path that is too long";
}

void ArchiveWriter::add(const std::string& path, std::string_view content) {
  if (const std::string problem = archived_path_problem(path); !problem.empty()) {
    throw Error(fmt::format("'{}' cannot be archived: {}", one_line(path), problem));
  }
  if (content.size() > limits_.file_bytes) {
    throw Error(fmt::format("'{}' has {} bytes; an archive holds files of at most {}", path, content.size(),
                            limits_.file_bytes));
  }
  unpacked_ += content.size();
  if (unpacked_ > limits_.all_bytes) {
    throw Error(fmt::format("'{}': an archive holds at most {} bytes in all", path, limits_.all_bytes));
  }
  packer_.add(path, content);
}

std::string ArchiveWriter::finish() {
  std::string bytes = packer_.finish();
  bytes += std::string(kLastFrame) + sha256_bytes(bytes);
  write_output(path_, bytes);
  return sha256(bytes);
}

ArchiveReader::ArchiveReader(const std::filesystem::path& path, const ArchiveLimits& limits)
    : limits_(limits),
      name_(path.string()),
      content_(read_input_file(path, kMaxPackedBytes)),
      files_(archive_read_new(), archive_read_free),
      bytes_(archive_read_new(), archive_read_free) {
  const std::size_t last = kLastFrame.size() + kHashBytes;
  if (content_.size() < last ||
      content_.compare(content_.size() - last, kLastFrame.size(), kLastFrame) != 0) {
    fail("is no archive of `che bundle`, or is damaged or cut off: it does not end with its hash");
  }
  digits_ = sha256(content_);
  const std::string_view frame(content_.data(), content_.size() - last);
  is_whole_ = sha256_bytes(frame) == std::string_view(content_).substr(content_.size() - kHashBytes);
  // libarchive reads several frames as one, and passes over frames that are to be skipped.
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) {
    fail("is damaged or has something behind its end: it is not one frame of Zstandard with its hash");
  }
  open_frame(files_.get(), frame, ARCHIVE_FORMAT_TAR);
  open_frame(bytes_.get(), frame, ARCHIVE_FORMAT_RAW);
  archive_entry* whole = nullptr;
  check(archive_read_next_header(bytes_.get(), &whole), bytes_.get());
}

void ArchiveReader::fail(std::string_view problem) const {
  const std::string where = at_.empty() ? "" : fmt::format("{}: ", one_line(at_));
  throw Error(fmt::format("{}: {}{}", name_, where, problem));
}

std::size_t ArchiveReader::check(std::ptrdiff_t result, archive* input) const {
  if (result >= 0) return static_cast<std::size_t>(result);
  // A file whose hash fits is whole, and memory may be what is missing.
  fail(fmt::format("{}: {}", is_whole_ ? "cannot be read" : "is damaged here or in a neighbouring file",
                   reason_of(input)));
}

std::string ArchiveReader::read(archive* input, std::size_t bytes) const {
  std::string result(bytes, '\0');
  result.resize(check(archive_read_data(input, result.data(), bytes), input));
  if (result.size() < bytes) fail("is cut off");
  return result;
}

void ArchiveReader::compare(const std::string& packed) const {
  if (read(bytes_.get(), packed.size()) == packed) return;
  fail(
      "its entry has another owner, time, mode or form than `che bundle` writes, or is damaged behind its "
      "end; do not repack a bundle");
}

std::optional<ArchivedFile> ArchiveReader::next() {
  archive_entry* entry = nullptr;
  if (check(archive_read_next_header(files_.get(), &entry), files_.get()) == ARCHIVE_EOF) {
    compare(packer_.finish());
    char more = 0;
    const bool has_more = check(archive_read_data(bytes_.get(), &more, 1), bytes_.get()) > 0;
    if (has_more) fail("has something behind its end");
    return std::nullopt;
  }
  const char* const path = archive_entry_pathname(entry);
  at_ = path == nullptr ? "" : path;
  if (archive_format(files_.get()) != ARCHIVE_FORMAT_TAR_USTAR) {
    fail("is an extension of the format; allowed: ustar");
  }
  if (const std::string_view kind = kind_of(entry); !kind.empty()) {
    fail(fmt::format("is {}; allowed: regular files", kind));
  }
  if (const std::string problem = archived_path_problem(at_); !problem.empty()) fail(problem);
  const auto size = static_cast<std::size_t>(archive_entry_size(entry));
  if (size > limits_.file_bytes) fail(fmt::format("has {} bytes; allowed: {}", size, limits_.file_bytes));
  unpacked_ += size;
  if (unpacked_ > limits_.all_bytes) fail(fmt::format("is beyond {} bytes in all", limits_.all_bytes));
  ArchivedFile file{.path = at_, .content = read(files_.get(), size)};
  packer_.add(file.path, file.content);
  compare(packer_.take());
  return file;
}

}  // namespace che
