#include "experiments/checkpoint.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <system_error>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/set_aside.h"

namespace che {
namespace {

// File, in machine byte order: magic, hash of the run id, step, values per tensor (64-bit each), the
// metric sums (doubles), the three tensors, XXH3 of everything before it.
constexpr std::array<char, 8> kMagic{'c', 'h', 'e', 'c', 'k', 'p', 't', '1'};
constexpr std::size_t kHeader = kMagic.size() + 3 * sizeof(std::uint64_t) + sizeof(MetricSums);
static_assert(sizeof(MetricSums) == 4 * sizeof(double), "written as it lies in memory");

constexpr std::array kFiles{"checkpoint.bin", "checkpoint.previous.bin"};  // The newest first.

std::uint64_t hash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

template <class T>
void append(std::string& bytes, const T* values, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

std::uint64_t word_at(std::string_view bytes, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

// Throws Error that says what is wrong with the file.
Checkpoint parse(std::string_view bytes, const std::string& id, std::size_t size) {
  const std::size_t expected = kHeader + 3 * size * sizeof(float) + sizeof(std::uint64_t);
  if (bytes.size() != expected)
    throw Error(fmt::format("has {} bytes instead of {}", bytes.size(), expected));
  const std::size_t body = bytes.size() - sizeof(std::uint64_t);
  if (hash(bytes.substr(0, body)) != word_at(bytes, body)) throw Error("has a wrong checksum");
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) throw Error("is of another format");
  if (word_at(bytes, 8) != hash(id)) throw Error("belongs to another run");
  Checkpoint checkpoint;
  checkpoint.step = static_cast<std::int64_t>(word_at(bytes, 16));
  std::memcpy(&checkpoint.sums, bytes.data() + 32, sizeof checkpoint.sums);
  const char* next = bytes.data() + kHeader;
  for (auto* tensor : {&checkpoint.values, &checkpoint.first_moment, &checkpoint.second_moment}) {
    tensor->resize(size);
    std::memcpy(tensor->data(), next, size * sizeof(float));
    next += size * sizeof(float);
  }
  return checkpoint;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& folder, const std::string& id,
                     const Checkpoint& checkpoint) {
  const std::size_t size = checkpoint.values.size();
  std::string bytes;
  bytes.reserve(kHeader + 3 * size * sizeof(float) + sizeof(std::uint64_t));
  append(bytes, kMagic.data(), kMagic.size());
  const std::array<std::uint64_t, 3> header{hash(id), static_cast<std::uint64_t>(checkpoint.step), size};
  append(bytes, header.data(), header.size());
  append(bytes, &checkpoint.sums, 1);
  for (const auto* tensor : {&checkpoint.values, &checkpoint.first_moment, &checkpoint.second_moment}) {
    append(bytes, tensor->data(), size);
  }
  const std::uint64_t checksum = hash(bytes);
  append(bytes, &checksum, 1);

  const std::filesystem::path current = folder / "checkpoint.bin";
  std::error_code error;
  if (std::filesystem::exists(current, error)) {
    std::filesystem::rename(current, folder / "checkpoint.previous.bin", error);
    if (error)
      throw Error(fmt::format("{}: cannot be renamed: {}", current.string(), error.message()),
                  Fault::kRuntime);
  }
  write_file_atomically(current, bytes);
}

LoadedCheckpoint load_checkpoint(const std::filesystem::path& folder, const std::string& id,
                                 std::size_t size) {
  LoadedCheckpoint loaded;
  for (const char* name : kFiles) {
    const std::filesystem::path path = folder / name;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    const std::string content = read_file(path);
    try {
      loaded.checkpoint = parse(content, id, size);
      break;
    } catch (const Error& problem) {
      loaded.warnings.push_back(fmt::format("{} {}", path.string(), problem.what()));
      set_aside(path, "damaged");
    }
  }
  for (std::string& warning : loaded.warnings) {
    warning += loaded.checkpoint ? fmt::format("; going on from the checkpoint before it, at step {}",
                                               loaded.checkpoint->step)
                                 : "; there is no good one before it: starting afresh";
  }
  return loaded;
}

bool has_checkpoint(const std::filesystem::path& folder) {
  return std::any_of(kFiles.begin(), kFiles.end(),
                     [&](const char* name) { return std::filesystem::exists(folder / name); });
}

std::uintmax_t remove_checkpoints(const std::filesystem::path& folder) {
  std::uintmax_t freed = 0;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("checkpoint.")) files.push_back(entry.path());
  }
  for (const std::filesystem::path& file : files) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (!error) std::filesystem::remove(file, error);
    if (error) {
      throw Error(fmt::format("cannot remove '{}': {}", file.string(), error.message()), Fault::kRuntime);
    }
    freed += size;
  }
  return freed;
}

}  // namespace che
