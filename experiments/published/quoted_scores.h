#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace che {

// A score that somebody published and nobody measured here, with another training and other samples.
struct QuotedScore {
  std::string task;
  std::string model;
  double score = 0;    // 0 .. 1
  std::string source;  // Where it is printed: "arXiv 2207.02098, Table 2".
  std::string entry;   // The results folder that quotes it.
};

// The file of a results folder that quotes scores, next to or instead of runs. It has a header
// `task,model,score,source` and one line per score, a fraction, without commas in a field.
inline constexpr const char* kQuotedFile = "quoted.csv";

// Returns the scores that the folder quotes, or none without such a file. Throws Error (usage) that names
// file, line and column for a malformed file, an unknown task and a score without a source.
std::vector<QuotedScore> read_quoted_scores(const std::filesystem::path& experiment);

}  // namespace che
