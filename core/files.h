#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/descriptor.h"
#include "core/error.h"

namespace che {

// How the program opens, replaces and sets aside files. One rule says which symbolic links it follows: those
// that the user names, and no others.
//  - A path that the user gives (a config, --output) may be a link or a pipe, and may have links in it: the
//    file or folder that it leads to is read or written.
//  - A file that the program names inside a folder is not trusted: the folder may come from elsewhere. Only
//    a regular file is read, locked or replaced, never a device, FIFO, socket or folder, and a link is
//    replaced itself. Folders inside may be links, so that results can lie on another disk, but for those
//    that the program empties.

// The whole of a regular file. Throws Error with the system's reason and its error_kind_of; (usage) at once,
// without waiting for a writer, when `path` is not a regular file or is a symbolic link. A file that another
// machine replaces meanwhile is opened again once. One of more than `max_bytes` is an Error (usage), and none
// of it is read.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = SIZE_MAX);

// Opens a file that the user named, a regular one or a pipe; links are followed. Throws Error as read_file
// does.
Descriptor open_input_file(const std::filesystem::path& path);

// Reads the next bytes of `file` into `buffer` and returns their number, 0 at the end; `path` is its name for
// the message. Throws Error with the system's reason and its error_kind_of.
std::size_t read_part(const Descriptor& file, const std::filesystem::path& path, std::span<char> buffer);

// Fills `buffer` with the bytes from `first` on of a regular file; several threads may. Throws Error as
// read_part does, and (usage) where the file ends before.
void read_at(const Descriptor& file, const std::filesystem::path& path, std::int64_t first,
             std::span<char> buffer);

// The whole of a file that the user named. Throws Error as read_file does, and (usage) for more than
// `max_bytes`.
std::string read_input_file(const std::filesystem::path& path, std::size_t max_bytes);

// Opens a regular file as the system's open does with these flags, and O_CLOEXEC. Throws as read_file does,
// with `verb` ("read", "lock") in the message; when `path` is something else, with `kind_if_irregular`, and
// `remedy` at its end.
Descriptor open_regular_file(const std::filesystem::path& path, int flags, std::string_view verb,
                             ErrorKind kind_if_irregular, std::string_view remedy = "");

// The whole of `file`, from where it stands; `path` is its name for the message. Throws Error with the
// system's reason and its error_kind_of.
std::string read_open_file(const Descriptor& file, const std::filesystem::path& path);

// Returns the file that a link leads to; `path` itself where it is no link or leads to nothing. For links
// that may be followed, such as those of a corpus to files on another disk.
std::filesystem::path link_target(const std::filesystem::path& path);

// Whether there is anything at `path`: a dangling link counts too. Throws Error with the system's reason and
// its error_kind_of when the system does not say.
bool is_present(const std::filesystem::path& path);

// Whether a file lies in `folder` or below it, links resolved.
bool lies_in(const std::filesystem::path& file, const std::filesystem::path& folder);

// The paths in a folder, sorted; those before a failure, which `error` then tells.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::error_code& error);

// Makes a folder and those around it where they are missing. Returns the system's reason when it cannot: a
// link that leads to nothing is refused, as the disk that it leads to may be missing.
std::error_code create_folder(const std::filesystem::path& folder);

// Removes the file at `path` where there is one. Throws Error (runtime) when the system refuses.
void remove_file(const std::filesystem::path& path);

// Replaces the file at `path` by what is written, part by part. A reader, or a machine that stops at any
// moment, sees the old content or the new as a whole. For this there is a temporary file next to it, then
// fsync, rename, and fsync of the folder. A symbolic link at `path` is replaced itself. All throw Error
// (runtime) with the system's reason, `finish` also when something other than a file or a link is at `path`.
// Without a successful `finish` the old file is untouched, and the temporary one is removed with the object.
// Where a process was killed before that, the next `finish` of the same file removes what it left, if the
// file system has locks and the folder can be listed. Where machines do not share locks, two of them that
// write one file at the same time can remove each other's temporary file. Then `finish` fails with an Error
// on one of them.
//
// `finish_new` instead of `finish` makes a file where there is none: of several processes, on any machine,
// one is told true. False, with nothing changed, when there is something at `path`. It needs hard links, and
// throws Error (runtime) that says so where the file system has none.
class FileReplacement {
 public:
  explicit FileReplacement(const std::filesystem::path& path);
  ~FileReplacement();
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  void write(std::string_view content);
  void finish();
  bool finish_new();

  const Descriptor& file() const { return file_; }
  // After `finish_new`: the file, open for writing.
  Descriptor take_file() { return std::move(file_); }

 private:
  bool was_cleared() const;
  bool is_at_path() const;

  std::filesystem::path path_;
  std::filesystem::path folder_;
  std::filesystem::path temporary_;
  Descriptor file_;
  bool is_finished_ = false;  // Nothing is left at `temporary_`.
};

// Does this for content that is there at once.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Writes to a path that the user gave as an output. A regular file, or the one a link leads to, is replaced
// atomically; a device, a FIFO or an open descriptor (/dev/stdout, /dev/fd/N) is written into. Throws Error
// (runtime) with the system's reason, (usage) for a folder.
void write_output(const std::filesystem::path& path, std::string_view content);

// Deletes the temporary files of any FileReplacement in `folder` whose process was killed, or all: then who
// still writes one gets an Error. Throws Error (runtime) when the system refuses.
enum class TemporaryFiles : std::uint8_t { kOfTheDead, kAll };
void remove_temporary_files(const std::filesystem::path& folder,
                            TemporaryFiles which = TemporaryFiles::kOfTheDead);

// Renames what is at `path` to `path`.`ending`, or `path`.`ending`.2, .3 ... where that name is taken:
// nothing that was set aside before is lost. Returns the new path. Throws Error (runtime) when the system
// refuses.
std::filesystem::path set_aside(const std::filesystem::path& path, std::string_view ending);

}  // namespace che
