#include "experiments/exchange/prediction_lines.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/number_text.h"
#include "core/suggestion.h"
#include "core/text.h"

namespace che {
namespace {

using Json = nlohmann::json;

// More of them than a person or a program leaves by mistake.
constexpr std::size_t kMaxBlankBytes = std::size_t{1} << 16;
constexpr const char* kLineForm =
    "allowed: one JSON object a line, the header and then such as {\"length\": 41, \"index\": 0, \"output\": "
    "[0]}";

// Compresses `text` behind `packed`, and ends the frame where `end` says so.
void compress(ZSTD_CCtx* stream, std::string_view text, ZSTD_EndDirective end, std::string& packed) {
  ZSTD_inBuffer input{text.data(), text.size(), 0};
  std::size_t left = 1;
  while (end == ZSTD_e_end ? left != 0 : input.pos < input.size) {
    std::array<char, 1 << 14> part{};
    ZSTD_outBuffer output{part.data(), part.size(), 0};
    left = ZSTD_compressStream2(stream, &output, &input, end);
    if (ZSTD_isError(left) != 0) {
      throw Error(fmt::format("zstd: {}", ZSTD_getErrorName(left)), ErrorKind::kRuntime);
    }
    packed.append(part.data(), output.pos);
  }
}

}  // namespace

PredictionPacker::PredictionPacker() : stream_(ZSTD_createCCtx()) {}

void PredictionPacker::FreeStream::operator()(ZSTD_CCtx_s* stream) const { ZSTD_freeCCtx(stream); }

void PredictionPacker::add(std::string_view line) {
  compress(stream_.get(), line, ZSTD_e_continue, packed_);
  compress(stream_.get(), "\n", ZSTD_e_continue, packed_);
}

std::string PredictionPacker::finish() {
  compress(stream_.get(), "", ZSTD_e_end, packed_);
  return std::move(packed_);
}

PredictionLines::PredictionLines(InputFile& input, const std::filesystem::path& file,
                                 PredictionPacker* packer)
    : input_(input), file_(file.string()), packer_(packer) {}

bool PredictionLines::read_line(std::size_t max_bytes) {
  line_.clear();
  while (true) {
    if (part_.empty()) part_ = input_.next();
    const bool is_at_end = part_.empty();
    const std::size_t end = part_.find('\n');
    const std::string_view piece = part_.substr(0, std::min(end, max_bytes + 1 - line_.size()));
    line_ += piece;
    const bool is_whole = is_at_end || piece.size() == end;
    part_.remove_prefix(std::min(part_.size(), piece.size() + (is_whole ? 1 : 0)));
    if (!is_whole && line_.size() <= max_bytes) continue;
    if (is_at_end && line_.empty()) return false;
    if (line_.find_first_not_of(" \t\r") != std::string::npos) break;
    blank_bytes_ += line_.size() + 1;
    if (blank_bytes_ > kMaxBlankBytes) {
      fail(fmt::format("more than {} bytes of blank lines follow", kMaxBlankBytes));
    }
    line_.clear();
    if (is_at_end) return false;
    number_ += is_whole ? 1 : 0;
  }
  ++number_;
  return true;
}

bool PredictionLines::next(Json& object, const JsonLimits& limits) {
  if (!read_line(limits.bytes)) return false;
  try {
    object = parse_bounded_json(line_, limits);
  } catch (const Error& error) {
    fail(fmt::format("{}; {}", error.what(), kLineForm));
  }
  if (!object.is_object()) fail(fmt::format("got {}; {}", object.type_name(), kLineForm));
  if (packer_ != nullptr) packer_->add(line_);
  return true;
}

bool PredictionLines::is_at_end() { return !read_line(kMaxBlankBytes); }

void PredictionLines::fail(const std::string& problem) const {
  throw Error(fmt::format("{}:{}: {}", file_, number_, problem));
}

const Json& PredictionLines::field(const Json& object, const char* name,
                                   bool (Json::*accepts)() const noexcept, const char* expected) const {
  const auto found = object.find(name);
  if (found == object.end()) fail(fmt::format("'{}' is missing", name));
  if (!((*found).*accepts)()) fail(fmt::format("{}: expected {}", name, expected));
  return *found;
}

std::string PredictionLines::text(const Json& object, const char* name) const {
  return field(object, name, &Json::is_string, "text").get<std::string>();
}

std::int64_t PredictionLines::integer(const Json& object, const char* name, std::int64_t min,
                                      std::int64_t max) const {
  const Json& value = field(object, name, &Json::is_number_integer, "a whole number");
  const bool is_above = value.is_number_unsigned() && std::cmp_greater(value.get<std::uint64_t>(), max);
  const auto number = value.get<std::int64_t>();
  if (is_above || number < min) {
    fail(fmt::format("{}: got {}; allowed: {}", name, value.dump(), allowed_integers(min, max)));
  }
  return number;
}

void PredictionLines::refuse_other_fields(const Json& object, const std::vector<std::string>& known) const {
  for (const auto& item : object.items()) {
    if (std::find(known.begin(), known.end(), item.key()) == known.end()) {
      fail(fmt::format("unknown field '{}'{}", one_line(item.key()), known_names_hint(item.key(), known)));
    }
  }
}

}  // namespace che
