#include "experiments/schedule/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/bounded_json.h"
#include "core/files.h"
#include "core/number_text.h"
#include "core/text.h"

namespace che {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kFolder = "batch";
constexpr const char* kFile = "submission.json";
constexpr const char* kBegunAgain = "begun_again";
constexpr std::int64_t kMaxNumber = 1'000'000;
constexpr JsonLimits kSubmissionLimits{.depth = 5, .bytes = std::size_t{256} << 20, .values = 4'000'000};

fs::path folder_of(const fs::path& experiment, std::int64_t number) {
  return experiment / kFolder / std::to_string(number);
}

// Returns the numbers of an experiment's submissions, ascending.
std::vector<std::int64_t> numbers_of(const fs::path& experiment) {
  std::vector<std::int64_t> numbers;
  std::error_code error;
  for (const fs::path& entry : entries_of(experiment / kFolder, error)) {
    const auto number = parse_integer(entry.filename().string());
    if (number && *number > 0 && *number <= kMaxNumber) numbers.push_back(*number);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw Error(fmt::format("cannot read '{}': {}", (experiment / kFolder).string(), error.message()),
                ErrorKind::kRuntime);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::int64_t number_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer() || found->get<std::int64_t>() < 0) {
    throw Error(fmt::format("{}: expected a whole number >= 0", name));
  }
  return found->get<std::int64_t>();
}

const Json& list_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) throw Error(fmt::format("{}: expected a list", name));
  return *found;
}

// Refuses what is no name of a folder, and may lead out of runs/.
std::string run_id_from(const Json& value) {
  auto id = value.is_string() ? value.get<std::string>() : std::string();
  if (id.empty() || id.front() == '.' || id.find('/') != std::string::npos) {
    throw Error(fmt::format("tasks: expected run ids, got {}", one_line(value.dump())));
  }
  return id;
}

Submission from_json(const Json& json) {
  if (!json.is_object()) throw Error("expected an object");
  Submission submission;
  for (const Json& task : list_at(json, "tasks")) {
    if (!task.is_array()) throw Error("tasks: expected lists of jobs");
    auto& jobs = submission.tasks.emplace_back();
    for (const Json& job : task) {
      if (!job.is_array() || job.empty()) throw Error("tasks: expected jobs of one run or more");
      auto& runs = jobs.emplace_back();
      for (const Json& run : job) runs.push_back(run_id_from(run));
    }
  }
  for (const Json& array : list_at(json, "arrays")) {
    if (!array.is_object()) throw Error("arrays: expected objects");
    submission.arrays.push_back({.job = number_at(array, "job"),
                                 .first = static_cast<std::size_t>(number_at(array, "first")),
                                 .count = static_cast<std::size_t>(number_at(array, "count"))});
  }
  submission.summary = number_at(json, "summary");
  if (!json.contains("begin_again")) return submission;
  const Json& again = json["begin_again"];
  if (!again.is_object()) throw Error("begin_again: expected an object");
  for (const auto& [run, steps] : again.items()) {
    std::vector<std::int64_t>& passed = submission.begin_again[run_id_from(run)];
    for (const Json& step : list_at(again, run.c_str())) {
      if (!step.is_number_integer()) throw Error("begin_again: expected whole numbers");
      passed.push_back(step.get<std::int64_t>());
    }
  }
  return submission;
}

}  // namespace

fs::path Submission::file() const { return folder / kFile; }

fs::path Submission::begun_again(const std::string& run) const { return folder / kBegunAgain / run; }

void Submission::store() const {
  nlohmann::ordered_json json;
  json["tasks"] = tasks;
  json["arrays"] = Json::array();
  for (const SubmittedArray& array : arrays) {
    json["arrays"].push_back({{"job", array.job}, {"first", array.first}, {"count", array.count}});
  }
  json["summary"] = summary;
  if (!begin_again.empty()) json["begin_again"] = begin_again;
  write_file_atomically(file(), json.dump(1) + "\n");
}

Submission create_submission(const fs::path& experiment, const std::vector<std::vector<RunFolder>>& jobs,
                             std::size_t jobs_per_task, const PassedSteps& begin_again) {
  const std::vector<std::int64_t> numbers = numbers_of(experiment);
  std::error_code ignored;
  if (fs::is_symlink(experiment / kFolder, ignored)) {
    throw Error(fmt::format("'{}' is a symbolic link, which may lead elsewhere; remove it",
                            (experiment / kFolder).string()));
  }
  Submission submission;
  submission.folder = folder_of(fs::absolute(experiment), numbers.empty() ? 1 : numbers.back() + 1);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i % jobs_per_task == 0) submission.tasks.emplace_back();
    auto& job = submission.tasks.back().emplace_back();
    for (const RunFolder& run : jobs[i]) job.push_back(run.id());
  }
  submission.begin_again = begin_again;
  const std::vector<Submission> before = read_submissions(experiment, [](const std::string&) {});
  if (!before.empty() && before.back().arrays.empty() && before.back().tasks == submission.tasks &&
      before.back().begin_again == submission.begin_again) {
    submission.folder = before.back().folder;
    create_writable_folder(submission.logs());
    std::error_code error;
    fs::remove_all(submission.folder / kBegunAgain, error);
    submission.store();
    return submission;
  }
  // A process that is killed here leaves a folder that is no submission.
  Submission begun = submission;
  begun.folder = submission.folder.parent_path() / "new";
  std::error_code error;
  fs::remove_all(begun.folder, error);
  create_writable_folder(begun.logs());
  begun.store();
  fs::rename(begun.folder, submission.folder, error);
  if (error) {
    throw Error(fmt::format("cannot make '{}': {}", submission.folder.string(), error.message()),
                ErrorKind::kRuntime);
  }
  return submission;
}

Submission read_submission(const fs::path& file) {
  try {
    const std::string text = read_file(file, kSubmissionLimits.bytes);
    Submission submission = from_json(parse_bounded_json(text, kSubmissionLimits));
    submission.folder = fs::absolute(file).parent_path();
    return submission;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    const bool is_submission = file.filename() == kFile && is_present(file);
    throw Error(fmt::format("{}: {}; {}", file.string(), error.what(),
                            is_submission ? "the file is damaged: remove its folder, and `che submit` again"
                                          : fmt::format("name the {} that `che submit` wrote", kFile)));
  }
}

std::vector<Submission> read_submissions(const fs::path& experiment, const WarningSink& warn) {
  std::vector<Submission> submissions;
  for (const std::int64_t number : numbers_of(experiment)) {
    try {
      submissions.push_back(read_submission(folder_of(experiment, number) / kFile));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kRuntime) throw;
      warn(error.what());
    }
  }
  return submissions;
}

}  // namespace che
