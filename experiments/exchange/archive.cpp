#include "experiments/exchange/archive.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/error.h"
#include "core/plain_name.h"
#include "core/text.h"

namespace che {
namespace {

constexpr std::size_t kBlock = 512;  // Of a tar archive.
constexpr std::size_t kMaxArchive = std::size_t{4} << 30;
constexpr int kCompression = 10;
// Of a ustar header.
constexpr std::size_t kNameBytes = 100;
constexpr std::size_t kPrefixBytes = 155;
constexpr std::size_t kNameAt = 0;
constexpr std::size_t kSizeAt = 124;
constexpr std::size_t kSumAt = 148;
constexpr std::size_t kTypeAt = 156;
constexpr std::size_t kMagicAt = 257;
constexpr std::size_t kPrefixAt = 345;
// A skippable frame of 32 bytes: its magic number and its size, little-endian.
constexpr std::string_view kLastFrame("\x50\x2a\x4d\x18\x20\x00\x00\x00", 8);
constexpr std::size_t kHashBytes = 32;

std::string bytes_of(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// The only header of a file with this path and size. Bytes 0 to 99 have the path where it fits, else its last
// component, and those from 345 what precedes it.
std::string header_of(std::string_view path, std::size_t size) {
  std::string header(kBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  const std::size_t slash = path.rfind('/');
  const bool is_short = path.size() <= kNameBytes;
  put(kNameAt, is_short ? path : path.substr(slash + 1));
  if (!is_short) put(kPrefixAt, path.substr(0, slash));
  put(100, "0000644");  // Mode.
  put(108, "0000000");  // Owner.
  put(116, "0000000");  // Group.
  put(kSizeAt, fmt::format("{:011o}", size));
  put(136, "00000000000");  // Time.
  put(kSumAt, "        ");
  put(kTypeAt, "0");  // A regular file.
  put(kMagicAt, std::string_view("ustar\00000", 8));
  put(329, "0000000");  // Device.
  put(337, "0000000");
  const unsigned sum = std::accumulate(header.begin(), header.end(), 0U, [](unsigned all, char byte) {
    return all + static_cast<unsigned char>(byte);
  });
  put(kSumAt, fmt::format("{:06o}", sum));
  header[kSumAt + 6] = '\0';
  return header;
}

std::string_view text_at(std::string_view header, std::size_t at, std::size_t bytes) {
  const std::string_view field = header.substr(at, bytes);
  return field.substr(0, field.find('\0'));
}

std::string path_in(std::string_view header) {
  const std::string_view prefix = text_at(header, kPrefixAt, kPrefixBytes);
  const std::string_view name = text_at(header, kNameAt, kNameBytes);
  return prefix.empty() ? std::string(name) : fmt::format("{}/{}", prefix, name);
}

std::optional<std::size_t> size_in(std::string_view header) {
  std::size_t size = 0;
  for (const char digit : text_at(header, kSizeAt, 12)) {
    if (digit < '0' || digit > '7') return std::nullopt;
    size = size * 8 + static_cast<std::size_t>(digit - '0');
  }
  return size;
}

// What an entry is that is no regular file.
std::string_view kind_of(char type) {
  switch (type) {
    case '1':
    case '2':
      return "a link";
    case '3':
    case '4':
    case '6':
      return "a device or FIFO";
    case '5':
      return "a folder";
    default:
      return "an extension of the format";
  }
}

bool is_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

}  // namespace

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

struct ArchiveWriter::Stream {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::string buffer = std::string(ZSTD_CStreamOutSize(), '\0');
};

ArchiveWriter::ArchiveWriter(const std::filesystem::path& path)
    : file_(path), stream_(std::make_unique<Stream>()) {
  ZSTD_CCtx_setParameter(stream_->context.get(), ZSTD_c_compressionLevel, kCompression);
  ZSTD_CCtx_setParameter(stream_->context.get(), ZSTD_c_checksumFlag, 1);
}

ArchiveWriter::~ArchiveWriter() = default;

void ArchiveWriter::compress(std::string_view part, bool is_last) {
  ZSTD_inBuffer input{part.data(), part.size(), 0};
  while (true) {
    ZSTD_outBuffer output{stream_->buffer.data(), stream_->buffer.size(), 0};
    const std::size_t left =
        ZSTD_compressStream2(stream_->context.get(), &output, &input, is_last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left) != 0) {
      throw Error(fmt::format("cannot compress: {}", ZSTD_getErrorName(left)), ErrorKind::kRuntime);
    }
    const std::string_view bytes(stream_->buffer.data(), output.pos);
    file_.write(bytes);
    hash_.add(bytes);
    whole_hash_.add(bytes);
    if (is_last ? left == 0 : input.pos == input.size) return;
  }
}

void ArchiveWriter::add(std::string_view path, std::string_view content) {
  if (const std::string problem = archived_path_problem(path); !problem.empty()) {
    throw Error(fmt::format("'{}' cannot be archived: {}", one_line(std::string(path)), problem));
  }
  if (content.size() > kMaxArchivedBytes) {
    throw Error(fmt::format("'{}' has {} bytes; an archive holds files of at most {}", path, content.size(),
                            kMaxArchivedBytes));
  }
  compress(header_of(path, content.size()), false);
  compress(content, false);
  compress(std::string((kBlock - content.size() % kBlock) % kBlock, '\0'), false);
}

std::string ArchiveWriter::finish() {
  compress(std::string(2 * kBlock, '\0'), true);
  const std::string last = std::string(kLastFrame) + bytes_of(hash_.digits());
  file_.write(last);
  whole_hash_.add(last);
  file_.finish();
  return whole_hash_.digits();
}

struct ArchiveReader::Stream {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context{ZSTD_createDCtx(), ZSTD_freeDCtx};
  ZSTD_inBuffer input{};
  bool has_ended = false;  // Whether the frame has.
};

ArchiveReader::ArchiveReader(const std::filesystem::path& path)
    : name_(path.string()),
      content_(read_input_file(path, kMaxArchive)),
      stream_(std::make_unique<Stream>()) {
  const std::size_t last = kLastFrame.size() + kHashBytes;
  if (content_.size() < last ||
      content_.compare(content_.size() - last, kLastFrame.size(), kLastFrame) != 0) {
    fail("is no archive of `che bundle`, or is damaged or cut off: it does not end with its hash");
  }
  digits_ = sha256(content_);
  const std::string_view frame(content_.data(), content_.size() - last);
  is_whole_ = bytes_of(sha256(frame)) == std::string_view(content_).substr(content_.size() - kHashBytes);
  stream_->input = {frame.data(), frame.size(), 0};
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::fail(std::string_view problem) const {
  const std::string where = at_.empty() ? "" : fmt::format("{}: ", one_line(at_));
  throw Error(fmt::format("{}: {}{}", name_, where, problem));
}

// Fewer bytes only at the end.
std::string ArchiveReader::read(std::size_t bytes) {
  std::string result;
  std::array<char, 1U << 16> buffer{};
  while (result.size() < bytes && !stream_->has_ended) {
    ZSTD_outBuffer output{buffer.data(), std::min(buffer.size(), bytes - result.size()), 0};
    const std::size_t before = stream_->input.pos;
    const std::size_t left = ZSTD_decompressStream(stream_->context.get(), &output, &stream_->input);
    if (ZSTD_isError(left) != 0) {
      fail(fmt::format("is damaged here or in a neighbouring file: cannot decompress: {}",
                       ZSTD_getErrorName(left)));
    }
    result.append(buffer.data(), output.pos);
    stream_->has_ended = left == 0;
    if (output.pos == 0 && stream_->input.pos == before && !stream_->has_ended) fail("is cut off");
  }
  return result;
}

std::optional<ArchivedFile> ArchiveReader::next() {
  const std::string header = read(kBlock);
  if (header.size() < kBlock) fail("is cut off");
  if (is_zero(header)) {
    if (const std::string second = read(kBlock); second.size() < kBlock || !is_zero(second)) {
      fail("has no end");
    }
    if (!read(1).empty() || !stream_->has_ended || stream_->input.pos < stream_->input.size) {
      fail("has something behind its end");
    }
    return std::nullopt;
  }
  if (header.compare(kMagicAt, 5, "ustar") != 0) fail("what follows is no entry of an archive");
  ArchivedFile file{.path = path_in(header), .content = {}};
  at_ = file.path;
  const char type = header[kTypeAt];
  if (type != '0' && type != '\0') {
    fail(fmt::format("is {}; allowed: regular files", kind_of(type)));
  }
  if (const std::string problem = archived_path_problem(file.path); !problem.empty()) fail(problem);
  const auto size = size_in(header);
  if (!size) fail("its size is no number");
  if (*size > kMaxArchivedBytes) {
    fail(fmt::format("has {} bytes; allowed: {}", *size, kMaxArchivedBytes));
  }
  if (header != header_of(file.path, *size)) {
    fail("its entry has another owner, time, mode or form than `che bundle` writes; do not repack a bundle");
  }
  file.content = read(*size);
  if (file.content.size() < *size) fail("is cut off");
  const std::size_t padding = (kBlock - *size % kBlock) % kBlock;
  if (const std::string rest = read(padding); rest.size() < padding || !is_zero(rest)) {
    fail("is damaged behind its end");
  }
  return file;
}

}  // namespace che
