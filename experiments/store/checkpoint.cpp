#include "experiments/store/checkpoint.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

#include "core/error.h"
#include "core/file_lock.h"
#include "core/files.h"
#include "experiments/store/run_files.h"

namespace che {
namespace {

constexpr std::array<char, 8> kMagic{'c', 'h', 'e', 'c', 'k', 'p', 't', '1'};

// A file has this, in machine byte order, the three tensors, and XXH3 of everything before it.
struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t id_hash = 0;
  std::int64_t step = 0;
  std::uint64_t size = 0;  // Values per tensor.
  MetricSums sums = {};
};
static_assert(sizeof(Header) == 64, "written as it lies in memory");

constexpr std::array kFiles{"checkpoint.bin", "checkpoint.previous.bin"};  // The newest first.

std::uint64_t hash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

template <class T>
void append(std::string& bytes, const T* values, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

std::size_t file_bytes(std::size_t size) {
  return sizeof(Header) + 3 * size * sizeof(float) + sizeof(std::uint64_t);
}

// Reads the first good file into `loaded`, and returns what is wrong with a file. Files after a good one are
// not read: they only have to be files that the next checkpoint can replace.
std::optional<std::string> try_load(const std::filesystem::path& path, const std::string& id,
                                    std::size_t size, std::optional<Checkpoint>& loaded) {
  try {
    if (loaded) {
      open_regular_file(path, O_RDONLY, "read", ErrorKind::kUsage);
      return std::nullopt;
    }
    // A file that is a little too long is read, and its problem named as that of a checkpoint.
    constexpr std::size_t kSpareBytes = std::size_t{1} << 20;
    const std::string bytes = read_file(path, file_bytes(size) + kSpareBytes);
    try {
      loaded = parse_checkpoint(bytes, id, size);
      return std::nullopt;
    } catch (const Error& problem) {
      return fmt::format("{}: {}", path.string(), problem.what());
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    return error.what();
  }
}

}  // namespace

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& id, std::size_t size) {
  const std::size_t expected = file_bytes(size);
  if (bytes.size() != expected)
    throw Error(fmt::format("has {} bytes instead of {}", bytes.size(), expected));
  const std::size_t body = bytes.size() - sizeof(std::uint64_t);
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + body, sizeof checksum);
  if (hash(bytes.substr(0, body)) != checksum) throw Error("has a wrong checksum");
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic) throw Error("is of another format");
  if (header.id_hash != hash(id)) throw Error("belongs to another run");
  if (header.size != size) {
    throw Error(fmt::format("says that it has {} values per tensor instead of {}", header.size, size));
  }
  if (header.step < 0) throw Error(fmt::format("is of step {}", header.step));
  constexpr double kRounding = 1.001;  // Accuracies are summed in single precision on the way.
  if (!(header.sums.accuracy >= 0 && header.sums.accuracy <= kRounding * header.sums.steps)) {
    throw Error(fmt::format("has an accuracy of {} in {} steps", header.sums.accuracy, header.sums.steps));
  }
  Checkpoint checkpoint{.step = header.step, .sums = header.sums};
  const char* next = bytes.data() + sizeof header;
  for (auto* tensor : {&checkpoint.values, &checkpoint.first_moment, &checkpoint.second_moment}) {
    tensor->resize(size);
    // An empty vector has a null pointer, which memcpy must not be given.
    if (size > 0) std::memcpy(tensor->data(), next, size * sizeof(float));
    next += size * sizeof(float);
  }
  return checkpoint;
}

std::string checkpoint_bytes(const std::string& id, const Checkpoint& checkpoint) {
  const std::size_t size = checkpoint.values.size();
  std::string bytes;
  bytes.reserve(file_bytes(size));
  const Header header{.id_hash = hash(id), .step = checkpoint.step, .size = size, .sums = checkpoint.sums};
  append(bytes, &header, 1);
  for (const auto* tensor : {&checkpoint.values, &checkpoint.first_moment, &checkpoint.second_moment}) {
    append(bytes, tensor->data(), size);
  }
  const std::uint64_t checksum = hash(bytes);
  append(bytes, &checksum, 1);
  return bytes;
}

void save_checkpoint(const std::filesystem::path& folder, const std::string& id,
                     const Checkpoint& checkpoint) {
  const std::string bytes = checkpoint_bytes(id, checkpoint);
  const std::filesystem::path current = folder / kFiles[0];
  FileReplacement file(current);
  file.write(bytes);
  FileLock::check_held(folder);
  if (is_present(current)) {
    std::error_code error;
    std::filesystem::rename(current, folder / kFiles[1], error);
    // A file server whose answer was lost is asked again, and then knows the old name no more.
    if (error && error != std::errc::no_such_file_or_directory) {
      throw Error(fmt::format("{}: cannot be renamed: {}", current.string(), error.message()),
                  ErrorKind::kRuntime);
    }
  }
  file.finish();
}

LoadedCheckpoint load_checkpoint(const std::filesystem::path& folder, const std::string& id, std::size_t size,
                                 DamagedCheckpoints damaged) {
  LoadedCheckpoint loaded;
  for (const char* name : kFiles) {
    const std::filesystem::path path = folder / name;
    if (!is_present(path)) continue;
    const std::optional<std::string> problem = try_load(path, id, size, loaded.checkpoint);
    if (!problem) continue;
    loaded.warnings.push_back(
        damaged == DamagedCheckpoints::kSetAside ? set_damage_aside({path, *problem}, folder) : *problem);
  }
  for (std::string& warning : loaded.warnings) {
    warning += loaded.checkpoint ? fmt::format("; using the checkpoint of step {}", loaded.checkpoint->step)
                                 : "; there is no other good one";
  }
  return loaded;
}

bool has_checkpoint(const std::filesystem::path& folder) {
  return std::ranges::any_of(kFiles, [&](const char* name) { return is_present(folder / name); });
}

std::optional<std::int64_t> checkpoint_step(const std::filesystem::path& folder) {
  for (const char* name : kFiles) {
    const std::filesystem::path path = folder / name;
    if (!is_present(path)) continue;
    try {
      const Descriptor file = open_regular_file(path, O_RDONLY, "read", ErrorKind::kUsage);
      Header header;
      if (pread(file.value(), &header, sizeof header, 0) == sizeof header) return header.step;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kRuntime) throw;  // Others are no files, which training sets aside.
    }
  }
  return std::nullopt;
}

std::uintmax_t remove_checkpoints(const std::filesystem::path& folder, bool is_dry_run) {
  std::error_code error;
  const std::vector<std::filesystem::path> entries = entries_of(folder, error);
  if (error) {
    throw Error(fmt::format("cannot read '{}': {}", folder.string(), error.message()), ErrorKind::kRuntime);
  }
  std::uintmax_t freed = 0;
  for (const std::filesystem::path& file : entries) {
    if (!file.filename().string().starts_with("checkpoint.")) continue;
    const std::filesystem::file_status status = std::filesystem::symlink_status(file, error);
    const bool is_link = std::filesystem::is_symlink(status);
    if (!is_link && !std::filesystem::is_regular_file(status)) continue;
    // A link frees nothing: its target stays.
    const std::uintmax_t bytes = is_link ? 0 : std::filesystem::file_size(file, error);
    if (!is_dry_run) remove_file(file);
    freed += error ? 0 : bytes;
  }
  return freed;
}

}  // namespace che
