#include "experiments/exchange/bundle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/bounded_json.h"
#include "core/error.h"
#include "core/files.h"
#include "core/hashes.h"
#include "core/new_folder.h"
#include "core/text.h"
#include "core/version.h"
#include "experiments/exchange/archive.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/run_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kFormat = "che-bundle/1";
constexpr const char* kManifest = "MANIFEST.json";
// The manifest of an archive of the largest size has fewer values.
constexpr JsonLimits kManifestLimits{.depth = 4, .bytes = ArchiveLimits().file_bytes, .values = 2'000'000};

// The finished seeds of each cell, by its id.
using Seeds = std::map<std::string, std::set<std::pair<std::int64_t, std::int64_t>>>;

void add_run(BundleSummary& summary, Seeds& seeds, const BundledRun& run) {
  const RunConfig& config = run.config;
  const RunStatus& status = run.status;
  ++summary.runs;
  summary.rows_without_predictions += run.rows_without_predictions;
  const std::string task = config.row_label().text();
  summary.task_versions[task].insert(config.has_text() ? 1 : task_version(config.task));
  if (const std::string content = own_content(config); !content.empty()) {
    summary.own_contents[task].insert(content);
  }
  const std::string cell = cell_id(config);
  auto& of_cell = seeds[cell];
  if (status.state != RunState::kFinished) {
    summary.unfinished[run.id] = state_name(status.state);
  } else if (!score(run.evaluation, config)) {
    summary.unfinished[run.id] =
        fmt::format("{} test lengths are missing", missing_lengths(run.evaluation, config).size());
  } else {
    of_cell.emplace(config.seed, config.data_seed);
  }
  summary.seeds[cell] = of_cell.size();
  if (!status.host.empty() && !config.is_foreign()) {
    std::string hardware =
        fmt::format("{} on {}", status.processor.empty() ? status.device : status.processor, status.host);
    const std::string before = status.earlier.empty() ? "" : fmt::format(" (before: {})", status.earlier);
    hardware += before;
    summary.programs.insert(computed_by(status) + before);
    if (std::ranges::find(summary.hardware, hardware) == summary.hardware.end()) {
      summary.hardware.push_back(std::move(hardware));
    }
  }
}

std::string dump(const OrderedJson& json) {
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

OrderedJson entry_of(const std::string& path, std::size_t bytes, const std::string& digits) {
  return {{"path", path}, {"bytes", bytes}, {"sha256", digits}};
}

// The version of each task; a list where runs have several.
OrderedJson versions_of(const BundleSummary& summary) {
  OrderedJson tasks = OrderedJson::object();
  for (const auto& [task, versions] : summary.task_versions) {
    tasks[task] = versions.size() == 1 ? OrderedJson(*versions.begin()) : OrderedJson(versions);
  }
  return tasks;
}

OrderedJson manifest_of(const BundleSummary& summary, const OrderedJson& files) {
  return {{"format", kFormat},
          {"name", summary.name},
          {"version", summary.version},
          {"git_commit", summary.git_commit},
          {"tasks", versions_of(summary)},
          {"seeds", summary.seeds},
          {"unfinished", summary.unfinished},
          {"hardware", summary.hardware},
          {"files", files}};
}

// The member `name` of what stands at `place` in a manifest. Throws Error that says what it has to be, where
// it is missing or `is_allowed` does not hold for it.
const Json& member_of(const Json& object, std::string_view place, const char* name,
                      bool (Json::*is_allowed)() const noexcept, const char* allowed) {
  const std::string dot = place.empty() ? "" : fmt::format("{}.", place);
  if (!object.is_object()) {
    throw Error(fmt::format("{}: got {}; allowed: a JSON object", place.empty() ? "its content" : place,
                            object.type_name()));
  }
  const auto found = object.find(name);
  if (found == object.end()) {
    throw Error(fmt::format("{}{}: is missing; allowed: {}", dot, name, allowed));
  }
  if (!((*found).*is_allowed)()) {
    throw Error(fmt::format("{}{}: got {}; allowed: {}", dot, name, found->type_name(), allowed));
  }
  return *found;
}

std::string text_of(const Json& object, std::string_view place, const char* name) {
  return member_of(object, place, name, &Json::is_string, "a text").get<std::string>();
}

std::string bundled_name(const fs::path& experiment) {
  std::string name = fs::canonical(experiment).filename().string();
  if (name.find('/') != std::string::npos || !archived_path_problem(name).empty()) {
    throw Error(
        fmt::format("'{}' cannot name a bundle; rename the folder: allowed are letters, digits and ._-+",
                    one_line(name)));
  }
  return name;
}

class BundleReader {
 public:
  // `store` receives each file once its bytes are known to be those of the manifest.
  using FileSink = std::function<void(const ArchivedFile&)>;

  BundleReader(const fs::path& file, BundledRunSink take, FileSink store)
      : file_(file.string()), take_(std::move(take)), store_(std::move(store)), archive_(file) {}

  BundleSummary read() {
    read_manifest();
    RunTexts texts;
    std::string run;
    const auto finish_run = [&] {
      if (run.empty()) return;
      BundledRun parsed =
          parse_bundled_run(run, texts, fmt::format("{}: {}/runs/{}", file_, root_, run), scored_symbols_);
      texts.clear();
      add_run(summary_, seeds_, parsed);
      if (take_) take_(std::move(parsed));
    };
    std::string last;
    while (std::optional<ArchivedFile> file = archive_.next()) {
      const auto [id, name] = place_of(file->path);
      if (file->path <= last) fail(file->path, "is not in the order of the names");
      last = file->path;
      check_file(*file);
      if (store_) store_(*file);
      if (id != run) {
        finish_run();
        run = id;
      }
      add_run_text(texts, name, std::move(file->content), fmt::format("{}: {}/runs/{}", file_, root_, run));
    }
    finish_run();
    if (!files_.empty()) fail(files_.begin()->first, "is in the manifest and not in the bundle");
    if (summary_.runs == 0) fail(root_, "holds no run; `che bundle` writes no such bundle");
    if (!archive_.is_whole()) {
      throw Error(
          fmt::format("{}: is damaged: its content is whole, its own bytes or its hash are not", file_));
    }
    summary_.digits = archive_.digits();
    if (dump(manifest_of(summary_, listed_)) != manifest_) {
      fail(fmt::format("{}/{}", root_, kManifest), "does not say what the bundle holds");
    }
    return std::move(summary_);
  }

 private:
  [[noreturn]] void fail(const std::string& path, const std::string& problem) const {
    throw Error(fmt::format("{}: {}: {}", file_, one_line(path, kWholeText), problem));
  }

  void read_manifest() {
    const std::optional<ArchivedFile> first = archive_.next();
    if (!first) throw Error(fmt::format("{}: is empty", file_));
    const std::size_t slash = first->path.find('/');
    if (slash == std::string::npos || first->path.substr(slash + 1) != kManifest) {
      fail(first->path, fmt::format("the first file of a bundle is NAME/{}", kManifest));
    }
    root_ = first->path.substr(0, slash);
    manifest_ = first->content;
    try {
      const Json json = parse_bounded_json(first->content, kManifestLimits);
      if (const std::string format = text_of(json, "", "format"); format != kFormat) {
        throw Error(
            fmt::format("format: got '{}'; allowed: {}; this che reads no other", one_line(format), kFormat));
      }
      summary_.name = text_of(json, "", "name");
      if (summary_.name != root_) throw Error(fmt::format("name: is not {}", root_));
      summary_.version = text_of(json, "", "version");
      summary_.git_commit = text_of(json, "", "git_commit");
      const Json& listed = member_of(json, "", "files", &Json::is_array, "a list");
      for (std::size_t i = 0; i < listed.size(); ++i) {
        const std::string place = fmt::format("files[{}]", i);
        const Json& file = listed[i];
        files_[text_of(file, place, "path")] = {
            member_of(file, place, "bytes", &Json::is_number_unsigned, "a whole number >= 0")
                .get<std::size_t>(),
            text_of(file, place, "sha256")};
      }
    } catch (const Error& error) {
      fail(first->path, one_line(error.what(), kWholeText));
    }
    if (store_) store_(*first);
    summary_.files = files_.size() + 1;
    // The manifest has to say nothing else, and nothing twice.
    for (const auto& [path, listed] : files_) listed_.push_back(entry_of(path, listed.first, listed.second));
  }

  // The run and the file of a path NAME/runs/<run id>/<file>.
  std::pair<std::string, std::string> place_of(const std::string& path) const {
    const std::string start = root_ + "/runs/";
    const std::size_t slash = path.rfind('/');
    if (path.starts_with(start) && slash > start.size()) {
      std::string id = path.substr(start.size(), slash - start.size());
      std::string name = path.substr(slash + 1);
      if (id.find('/') == std::string::npos && is_bundled(name)) {
        return {std::move(id), std::move(name)};
      }
    }
    fail(path, "is no file of a bundle; allowed: the files of runs, without checkpoints and predictions");
  }

  void check_file(const ArchivedFile& file) {
    const auto listed = files_.find(file.path);
    if (listed == files_.end()) fail(file.path, "is not in the manifest, or twice in the bundle");
    const auto& [bytes, digits] = listed->second;
    if (bytes != file.content.size() || digits != sha256(file.content)) {
      fail(file.path, "has been changed: its SHA-256 is not that of the manifest");
    }
    files_.erase(listed);
  }

  std::string file_;
  BundledRunSink take_;
  FileSink store_;
  ArchiveReader archive_;
  BundleSummary summary_;
  Seeds seeds_;
  double scored_symbols_ = 0;
  std::string root_;
  std::string manifest_;
  OrderedJson listed_ = OrderedJson::array();
  std::map<std::string, std::pair<std::size_t, std::string>> files_;  // Size and hash of those still to come.
};

}  // namespace

BundleSummary write_bundle(const fs::path& experiment, const fs::path& file) {
  ExperimentRuns found = find_runs(experiment);
  if (!found.left_out.empty()) {
    throw Error(fmt::format("a bundle holds whole runs only: {}", found.left_out.front().text));
  }
  BundleSummary summary;
  summary.name = bundled_name(experiment);
  summary.version = program_version();
  summary.git_commit = git_commit();
  // Paths are ordered so, even where an id begins another one.
  std::ranges::sort(found.runs, {}, [](const RunFolder& run) { return run.id() + "/"; });
  Seeds seeds;
  double scored_symbols = 0;
  OrderedJson files = OrderedJson::array();
  for (const RunFolder& run : found.runs) {
    const RunTexts texts = read_run_texts(run.path());
    add_run(summary, seeds, parse_bundled_run(run.id(), texts, run.path().string(), scored_symbols));
    for (const auto& [name, text] : texts) {
      files.push_back(
          entry_of(fmt::format("{}/runs/{}/{}", summary.name, run.id(), name), text.size(), sha256(text)));
    }
  }
  summary.files = files.size() + 1;
  ArchiveWriter archive(file);
  archive.add(fmt::format("{}/{}", summary.name, kManifest), dump(manifest_of(summary, files)));
  std::size_t next = 0;
  for (const RunFolder& run : found.runs) {
    for (const auto& [name, text] : read_run_texts(run.path())) {
      const std::string path = fmt::format("{}/runs/{}/{}", summary.name, run.id(), name);
      if (next == files.size() || files[next]["path"] != path || files[next]["sha256"] != sha256(text)) {
        throw Error(
            fmt::format("'{}' has changed meanwhile; bundle the experiment when no process works on it",
                        (run.path() / name).string()));
      }
      archive.add(path, text);
      ++next;
    }
  }
  summary.digits = archive.finish();
  return summary;
}

BundleSummary verify_bundle(const fs::path& file, const BundledRunSink& take) {
  return BundleReader(file, take, {}).read();
}

BundleSummary unpack_bundle(const fs::path& file, const fs::path& output) {
  const fs::path folder = (output / "").parent_path();  // Without a slash at the end.
  if (is_present(folder)) {
    throw Error(fmt::format("'{}' is there already; name a folder that is not", folder.string()));
  }
  if (folder.filename() == "." || folder.filename() == "..") {
    throw Error(fmt::format("'{}' does not end in the name of a new folder; name one, such as -o results/new",
                            folder.string()));
  }
  create_writable_folder(folder.has_parent_path() ? folder.parent_path() : ".");
  NewFolder unpacked(folder);
  BundleSummary summary = BundleReader(file, {}, [&](const ArchivedFile& next) {
                            const fs::path path =
                                unpacked.begun() / next.path.substr(next.path.find('/') + 1);
                            create_writable_folder(path.parent_path());
                            write_file_atomically(path, next.content);
                          }).read();
  unpacked.finish();
  return summary;
}

std::string describe(const BundleSummary& summary, const fs::path& file) {
  std::string text = fmt::format("{}: {} of the experiment {}, {}\n", one_line(file.string(), kWholeText),
                                 counted(summary.runs, "run"), summary.name, counted(summary.files, "file"));
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fmt::format("{:<11}  {}\n", key, value);
  };
  add("sha256", summary.digits);
  add("bundled by", one_line(fmt::format("che {}, commit {}", summary.version, summary.git_commit)));
  std::vector<std::string> tasks;
  for (const auto& [task, versions] : summary.task_versions) {
    const auto own = summary.own_contents.find(task);
    tasks.push_back(fmt::format(
        "{} (version {}{})", task, fmt::join(versions, " and "),
        own == summary.own_contents.end() ? "" : fmt::format("; {}", fmt::join(own->second, " and "))));
  }
  add("tasks", fmt::format("{}", fmt::join(tasks, ", ")));
  std::size_t least = summary.runs;
  std::size_t most = 0;
  for (const auto& [cell, seeds] : summary.seeds) {
    least = std::min(least, seeds);
    most = std::max(most, seeds);
  }
  add("seeds", fmt::format("{} finished in each cell, of {}",
                           least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
                           counted(summary.seeds.size(), "cell")));
  if (!summary.programs.empty()) {
    add("computed by", one_line(fmt::format("{}", fmt::join(summary.programs, "; ")), kWholeText));
  }
  if (summary.rows_without_predictions > 0) {
    add("unchecked", fmt::format("{} of models outside che, whose predictions the bundle does not have",
                                 counted(summary.rows_without_predictions, "row")));
  }
  if (summary.is_complete()) {
    add("complete", "every run in it has a score; whether the config has more, `che run CONFIG --list` says");
    return text;
  }
  add("incomplete", fmt::format("{} without a score:", counted(summary.unfinished.size(), "run")));
  for (const auto& [run, reason] : summary.unfinished) text += fmt::format("  {}: {}\n", run, reason);
  return text;
}

}  // namespace che
