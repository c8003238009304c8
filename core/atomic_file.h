#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace che {

// Replaces the file at `path` by `content` so that a reader, or a machine that stops at any moment,
// sees the old content or the new, whole: temporary file beside it, fsync, rename, fsync of the
// folder. Throws Error (runtime) with the system's reason; the old file is then untouched and the
// temporary one removed.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Deletes what processes that were killed on their way left of such temporary files in `folder`; nobody may
// be writing there. Throws Error (runtime) when the system refuses.
void remove_temporary_files(const std::filesystem::path& folder);

// The whole file. Throws Error with the system's reason and its fault_of.
std::string read_file(const std::filesystem::path& path);

}  // namespace che
