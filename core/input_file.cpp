#include "core/input_file.h"

#include <fmt/format.h>
#include <zstd.h>

#include <span>
#include <utility>

#include "core/error.h"
#include "core/files.h"

namespace che {
namespace {

constexpr std::size_t kPartBytes = std::size_t{1} << 16;
constexpr std::string_view kMagic("\x28\xB5\x2F\xFD");

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : path_(path), file_(open_input_file(path)), buffer_(kPartBytes, '\0') {
  begin();
}

InputFile::InputFile(std::string_view content, std::filesystem::path path)
    : path_(std::move(path)), raw_(content) {
  begin();
}

InputFile::~InputFile() = default;

void InputFile::FreeStream::operator()(ZSTD_DCtx_s* stream) const { ZSTD_freeDCtx(stream); }

void InputFile::begin() {
  if (file_.is_open()) {
    // A pipe may give less than the magic number at once.
    std::size_t count = 0;
    while (count < kMagic.size()) {
      const std::size_t more = read_part(file_, path_, std::span(buffer_).subspan(count));
      if (more == 0) break;
      count += more;
    }
    raw_ = std::string_view(buffer_).substr(0, count);
  }
  is_in_frame_ = raw_.size() < kMagic.size() && path_.extension() == ".zst";
  if (!is_in_frame_ && !raw_.starts_with(kMagic)) return;
  stream_.reset(ZSTD_createDCtx());
  decompressed_.resize(ZSTD_DStreamOutSize());
}

std::string_view InputFile::next() {
  if (stream_) return next_decompressed();
  if (raw_.empty()) fill();
  return std::exchange(raw_, {});
}

void InputFile::fill() {
  if (file_.is_open()) raw_ = std::string_view(buffer_).substr(0, read_part(file_, path_, buffer_));
}

std::string_view InputFile::next_decompressed() {
  while (true) {
    if (raw_.empty()) fill();
    const bool is_at_end = raw_.empty();
    if (is_at_end && !is_in_frame_) return {};
    ZSTD_inBuffer input{raw_.data(), raw_.size(), 0};
    ZSTD_outBuffer output{decompressed_.data(), decompressed_.size(), 0};
    const std::size_t left = ZSTD_decompressStream(stream_.get(), &output, &input);
    if (ZSTD_isError(left) != 0) {
      throw Error(fmt::format("{}: cannot be decompressed: {}", path_.string(), ZSTD_getErrorName(left)));
    }
    raw_.remove_prefix(input.pos);
    is_in_frame_ = left != 0;
    if (output.pos > 0) return std::string_view(decompressed_).substr(0, output.pos);
    if (is_at_end && is_in_frame_) throw Error(fmt::format("{}: is cut off", path_.string()));
  }
}

}  // namespace che
