#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/bounded_json.h"
#include "core/input_file.h"

struct ZSTD_CCtx_s;  // Zstandard's.

namespace che {

// Compresses lines with Zstandard as one frame.
class PredictionPacker {
 public:
  PredictionPacker();

  void add(std::string_view line);
  std::string finish();

 private:
  struct FreeStream {
    void operator()(ZSTD_CCtx_s* stream) const;
  };

  std::string packed_;
  std::unique_ptr<ZSTD_CCtx_s, FreeStream> stream_;
};

// The lines of a file of predictions, with the errors of what is on them. Blank lines are passed over.
class PredictionLines {
 public:
  // `file` is the name for messages; `packer` receives each line that is read.
  PredictionLines(InputFile& input, const std::filesystem::path& file, PredictionPacker* packer = nullptr);

  // Reads the object on the next line; false at the end of the file. No more than the limit is read of a line
  // that is longer, which is refused.
  bool next(nlohmann::json& object, const JsonLimits& limits);
  // Whether nothing but blank lines follows.
  bool is_at_end();

  // Throws the error of the last line.
  [[noreturn]] void fail(const std::string& problem) const;

  // The field `name` of `object`; `accepts` says whether a value is one, `expected` what would be.
  const nlohmann::json& field(const nlohmann::json& object, const char* name,
                              bool (nlohmann::json::*accepts)() const noexcept, const char* expected) const;
  std::string text(const nlohmann::json& object, const char* name) const;
  std::int64_t integer(const nlohmann::json& object, const char* name, std::int64_t min,
                       std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
  void refuse_other_fields(const nlohmann::json& object, const std::vector<std::string>& known) const;

 private:
  // Reads the next line that is not blank, and at most a byte more of it than `max_bytes`.
  bool read_line(std::size_t max_bytes);

  InputFile& input_;
  std::string file_;
  PredictionPacker* packer_;
  std::string_view part_;  // Has been read from the file and belongs to no line yet.
  std::string line_;
  std::size_t number_ = 0;  // The last line's, from 1.
  std::size_t blank_bytes_ = 0;
};

}  // namespace che
