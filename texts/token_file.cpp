#include "texts/token_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace che {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are read and written as they lie in memory");

constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
constexpr std::uint8_t kUint16 = 8;
constexpr std::uint8_t kInt32 = 4;

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Takes numbers off the front of an index.
class IndexReader {
 public:
  IndexReader(std::string_view bytes, const std::filesystem::path& path) : rest_(bytes), path_(path) {}

  [[noreturn]] void fail(std::string_view problem) const {
    throw Error(
        fmt::format("{}: {}; allowed: the .idx file of GPT-NeoX's indexed data set, of type uint16 or int32",
                    path_.string(), problem));
  }

  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size()) fail("it is cut off");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  template <class T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  template <class T>
  std::vector<T> numbers(std::uint64_t count) {
    if (count > rest_.size() / sizeof(T)) fail("it is cut off");
    std::vector<T> values(count);
    const std::string_view taken = take(count * sizeof(T));
    std::memcpy(values.data(), taken.data(), taken.size());
    return values;
  }

  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  const std::filesystem::path& path_;
};

}  // namespace

TokenIndex read_token_index(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  IndexReader reader(bytes, path);
  if (reader.take(kMagic.size()) != kMagic || reader.number<std::uint64_t>() != 1)
    reader.fail("it is no such file");
  const auto type = reader.number<std::uint8_t>();
  if (type != kUint16 && type != kInt32) reader.fail(fmt::format("its tokens have the type {}", type));
  TokenIndex index{.token_bytes = type == kUint16 ? 2 : 4, .starts = {}};
  const auto sequences = reader.number<std::uint64_t>();
  const auto documents = reader.number<std::uint64_t>();
  const auto lengths = reader.numbers<std::int32_t>(sequences);
  const auto offsets = reader.numbers<std::int64_t>(sequences);
  const auto first_sequences = reader.numbers<std::int64_t>(documents);
  if (!reader.is_at_end()) reader.fail("it has bytes behind its end");

  std::vector<std::int64_t> starts = {0};  // Of sequences.
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0 || offsets[i] != starts.back() * index.token_bytes) {
      reader.fail(fmt::format("sequence {} does not follow the one before it", i));
    }
    starts.push_back(starts.back() + lengths[i]);
  }
  for (const std::int64_t sequence : first_sequences) {
    const bool is_first = index.starts.empty();
    if (sequence < 0 || std::cmp_greater(sequence, sequences) || (is_first && sequence != 0)) {
      reader.fail("its documents are not made of its sequences");
    }
    const std::int64_t start = starts[static_cast<std::size_t>(sequence)];
    if (!is_first && start < index.starts.back()) reader.fail("its documents do not follow each other");
    index.starts.push_back(start);
  }
  if (index.starts.size() < 2 || index.starts.back() != starts.back()) {
    reader.fail("its documents are not made of its sequences");
  }
  return index;
}

std::string token_index_bytes(const TokenIndex& index) {
  const std::size_t documents = index.starts.size() - 1;
  std::string bytes(kMagic);
  append<std::uint64_t>(bytes, 1);
  append<std::uint8_t>(bytes, index.token_bytes == 2 ? kUint16 : kInt32);
  append<std::uint64_t>(bytes, documents);
  append<std::uint64_t>(bytes, documents + 1);
  for (std::size_t i = 0; i < documents; ++i) {
    append(bytes, static_cast<std::int32_t>(index.starts[i + 1] - index.starts[i]));
  }
  for (std::size_t i = 0; i < documents; ++i) append(bytes, index.starts[i] * index.token_bytes);
  for (std::size_t i = 0; i <= documents; ++i) append(bytes, static_cast<std::int64_t>(i));
  return bytes;
}

TokenWriter::TokenWriter(const std::filesystem::path& path, std::int64_t vocabulary)
    : file_(path), index_{.token_bytes = vocabulary <= (1 << 16) ? 2 : 4, .starts = {0}} {}

void TokenWriter::add(const std::vector<std::int32_t>& tokens, bool is_end) {
  count_ += static_cast<std::int64_t>(tokens.size());
  if (count_ - index_.starts.back() > std::numeric_limits<std::int32_t>::max()) {
    throw Error("a document has more than 2^31 - 1 tokens, which GPT-NeoX's format does not hold; split it");
  }
  std::string bytes;
  bytes.reserve(tokens.size() * static_cast<std::size_t>(index_.token_bytes));
  for (const std::int32_t token : tokens) {
    if (index_.token_bytes == 2) {
      append(bytes, static_cast<std::uint16_t>(token));
    } else {
      append(bytes, token);
    }
  }
  file_.write(bytes);
  if (is_end) index_.starts.push_back(count_);
}

TokenIndex TokenWriter::finish() {
  file_.finish();
  return index_;
}

}  // namespace che
