// Every kind of stored file with every kind of damage: what `status`, `table` and `run` say of it, that none
// of them stops, waits or counts what is wrong, and that `run` has the table as it was before.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/descriptor.h"
#include "core/file_lock.h"
#include "core/files.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/results/read_results.h"
#include "experiments/results/result_table.h"
#include "experiments/schedule/status.h"
#include "experiments/store/checkpoint.h"
#include "experiments/store/experiment_folder.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kParameters = 10;

// A change of the stored file; `sibling` is the same file of another run.
using Change = std::function<void(const fs::path& file, const fs::path& sibling)>;

struct Kind {
  std::string name;
  Change apply;
  // What is said, by file; "" for any other file. None where nothing is wrong with it.
  std::map<std::string, std::string> said;
};

void put(const fs::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

Change rewritten(const std::function<std::string(std::string)>& change) {
  return [change](const fs::path& file, const fs::path&) { put(file, change(read_file(file))); };
}

Change replaced(const std::function<void(const fs::path&)>& make) {
  return [make](const fs::path& file, const fs::path&) {
    fs::remove(file);
    make(file);
  };
}

std::string flipped(std::string content, double position) {
  const auto i = static_cast<std::size_t>(position * static_cast<double>(content.size() - 1));
  content[i] = static_cast<char>(content[i] ^ 0x04);
  return content;
}

std::string with_crlf(const std::string& content) {
  std::string text;
  for (const char c : content) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return text;
}

// The first number in a text becomes `number`, which a checkpoint has at its end.
std::string with_number(std::string content, const std::string& number) {
  const std::size_t line = content.find('\n') + 1;
  const std::size_t start = content.find_first_of("123456789", line);
  if (start == std::string::npos) return content + number;
  return content.replace(start, content.find_first_not_of("0123456789", start) - start, number);
}

void make_socket(const fs::path& file) {
  const Descriptor server(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  file.string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(server.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

const std::string kAny = "the file is damaged";
const std::string kChecksum = "checksum";
const std::string kSize = "bytes instead of";

std::vector<Kind> kinds() {
  const auto by_file = [](const std::string& config, const std::string& csv, const std::string& status,
                          const std::string& checkpoint) {
    return std::map<std::string, std::string>{
        {"config.yaml", config}, {"metrics.csv", csv},    {"evaluation.csv", csv},       {"windows.csv", csv},
        {"positions.csv", csv},  {"status.json", status}, {"checkpoint.bin", checkpoint}};
  };
  const auto content = by_file(kChecksum, kAny, kAny, kSize);
  const auto same_size = by_file(kChecksum, kAny, kAny, "has a wrong checksum");
  const auto all = [&](const std::string& said) { return by_file(said, said, said, said); };
  const auto link_to = [](const std::string& target) {
    return replaced([target](const fs::path& file) { fs::create_symlink(target, file); });
  };
  return {
      {"first_bit", rewritten([](auto text) { return flipped(text, 0); }), same_size},
      {"early_bit", rewritten([](auto text) { return flipped(text, 0.2); }), same_size},
      {"middle_bit", rewritten([](auto text) { return flipped(text, 0.5); }), same_size},
      {"late_bit", rewritten([](auto text) { return flipped(text, 0.8); }), same_size},
      {"last_bit", rewritten([](auto text) { return flipped(text, 1); }), same_size},
      {"cut_in_half", rewritten([](auto text) { return text.substr(0, text.size() / 2); }), content},
      {"cut_at_end", rewritten([](auto text) { return text.substr(0, text.size() - 1); }), content},
      {"cut_at_start", rewritten([](auto text) { return text.substr(1); }), content},
      {"empty", rewritten([](const auto&) { return ""; }),
       by_file("the checksum, is missing", "no header", "not JSON", "has 0 bytes")},
      {"appended", rewritten([](auto text) { return text + "x"; }), content},
      {"line_appended", rewritten([](auto text) { return text + "\n"; }), content},
      {"doubled", rewritten([](auto text) { return text + text; }), content},
      {"crlf", rewritten(with_crlf), content},
      {"bom", rewritten([](auto text) { return "\xEF\xBB\xBF" + text; }), content},
      {"zeros", rewritten([](auto text) { return std::string(text.size(), '\0'); }), same_size},
      {"noise", rewritten([](auto text) {
         for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i * 31 + 7 * i + 11);
         return text;
       }),
       same_size},
      {"html", rewritten([](const auto&) { return "<!DOCTYPE html>\n<html></html>\n"; }), content},
      {"nested", rewritten([](const auto&) { return "{\"state\": " + std::string(200'000, '['); }),
       by_file(kChecksum, "cut off", "nested more than", kSize)},
      {"huge_number", rewritten([](auto text) { return with_number(text, "1e999"); }),
       by_file(kChecksum, kAny, kAny, kSize)},
      {"huge_integer", rewritten([](auto text) { return with_number(text, "18446744073709551615"); }),
       by_file(kChecksum, kAny, kAny, kSize)},
      {"swapped", [](const fs::path& file, const fs::path& sibling) { put(file, read_file(sibling)); },
       by_file("belongs to run", "column checksum", "checksum does not fit", "belongs to another run")},
      {"fifo", replaced([](const fs::path& file) { ASSERT_EQ(mkfifo(file.c_str(), 0600), 0); }),
       all("it is a FIFO, not a regular file")},
      {"folder", replaced([](const fs::path& file) { fs::create_directory(file); }), all("it is a folder")},
      {"full_folder", replaced([](const fs::path& file) { fs::create_directories(file / "inside"); }),
       all("it is a folder")},
      {"socket", replaced(make_socket), all("it is a socket")},
      {"link",
       [](const fs::path& file, const fs::path&) {
         fs::rename(file, file.string() + ".kept");
         fs::create_symlink(file.string() + ".kept", file);
       },
       all("it is a symbolic link")},
      {"dangling_link", link_to("/nonexistent/file"), all("it is a symbolic link")},
      {"loop",
       [](const fs::path& file, const fs::path&) {
         fs::remove(file);
         fs::create_symlink(file, file);
       },
       all("it is a symbolic link")},
      {"link_to_endless", link_to("/dev/zero"), all("it is a symbolic link")},
      {"missing", replaced([](const fs::path&) {}),
       by_file("it has no config.yaml", "", "is missing next to results", "")},
  };
}

struct Case {
  std::string file;
  Kind kind;
  bool of_text = false;
};

void PrintTo(const Case& one, std::ostream* stream) { *stream << one.file << ", " << one.kind.name; }

std::vector<Case> cases(bool of_text) {
  std::vector<std::string> files = {"config.yaml", "metrics.csv", "evaluation.csv", "status.json",
                                    "checkpoint.bin"};
  if (of_text) files.insert(files.end(), {"windows.csv", "positions.csv"});
  std::vector<Case> all;
  for (const std::string& file : files) {
    for (const Kind& kind : kinds()) all.push_back({file, kind, of_text});
  }
  return all;
}

RunConfig on_task(std::int64_t seed) { return made_up_config("even_pairs", "rope", seed); }

RunConfig on_text(std::int64_t seed) {
  RunConfig config = read(
                         "name: x\nbase: {text: austen, encoding: rope, evaluation: {lengths: [128], last: "
                         "64, curve: true}}\n")
                         .runs.front();
  config.seed = seed;
  return config;
}

class DamageTable : public testing::TestWithParam<Case> {
 protected:
  static RunConfig config(std::int64_t seed) { return GetParam().of_text ? on_text(seed) : on_task(seed); }

  static RunFolder store(const fs::path& experiment, std::int64_t seed) {
    RunFolder run = store_run(experiment, config(seed), RunState::kFinished, 0.5 + 0.25 * double(seed));
    if (GetParam().of_text) {
      std::vector<EvaluationRow> rows = run.evaluation();
      for (EvaluationRow& row : rows) {
        row.loss = 1.25 + 0.25 * double(seed);
        row.encoding_settings = evaluation_settings(run.config());
        row.windows = {{{.document = 5, .end = 4000}, 1.0}, {{.document = 5, .end = 8000}, 1.5}};
        for (std::int64_t first = 0; first < row.length; first += 16) {
          row.positions.push_back({.first = first, .count = 16, .loss = 1.25});
        }
      }
      run.write_evaluation(rows);
    }
    // Step 10 is a line's end in the checkpoint's bytes.
    Checkpoint checkpoint{.step = 10, .sums = {}, .values = std::vector<float>(kParameters, 1.5F)};
    checkpoint.first_moment = checkpoint.second_moment = checkpoint.values;
    save_checkpoint(run.path(), run.id(), checkpoint);
    return run;
  }

  // Each run's score, as `table` has it; its warnings are added to `said`.
  static std::map<std::string, double> scores(const fs::path& experiment, std::string& said) {
    const auto warn = [&](const std::string& warning) { said += warning + "\n"; };
    const ResultTable table = make_table(open_runs(experiment, warn));
    warn_of_damage(table, warn);
    std::map<std::string, double> scores;
    for (const TableRun& run : table.runs) {
      if (run.score && run.damage.empty()) scores[run.id] = *run.score;
    }
    return scores;
  }

  // What `run` does before it computes, and what it warns of: files that are damaged are set aside.
  static std::string start_run(const fs::path& experiment) {
    std::string said;
    const auto warn = [&](const std::string& warning) { said += warning + "\n"; };
    const FileLock lock(experiment);
    const RunFolder run = RunFolder::at(experiment, config(0), warn);
    run.read();
    run.store_config();
    const FileLock run_lock(run.path());
    run.set_damage_aside(warn);
    for (const std::string& warning :
         load_checkpoint(run.path(), run.id(), kParameters, DamagedCheckpoints::kSetAside).warnings) {
      warn(warning);
    }
    run.write_status(run.status());
    return said;
  }
};

TEST_P(DamageTable, IsNamedLeftOutAndMended) {
  const std::string& name = GetParam().file;
  const Kind& kind = GetParam().kind;
  const ScratchFolder scratch;
  const RunFolder run = store(scratch.path(), 0);
  const RunFolder sibling = store(scratch.path(), 1);
  const StoredRun good = run.read();
  std::string nothing;
  const std::map<std::string, double> before = scores(scratch.path(), nothing);
  ASSERT_EQ(before.size(), 2U);
  ASSERT_EQ(nothing, "");

  kind.apply(run.path() / name, sibling.path() / name);
  const std::string& said = kind.said.at(name);
  const bool is_checkpoint = name == "checkpoint.bin";  // No table or status needs it.

  std::string table_says;
  const std::map<std::string, double> left = scores(scratch.path(), table_says);
  const std::string status_says = describe(experiment_status(scratch.path()));
  EXPECT_EQ(left.count(sibling.id()), 1U) << "a sound run is not counted";
  EXPECT_EQ(left.at(sibling.id()), before.at(sibling.id()));
  // No score needs the other files: rows that were there before windows.csv are good.
  const bool is_counted =
      is_checkpoint || (said.empty() && name != "config.yaml" && name != "evaluation.csv");
  EXPECT_EQ(left.count(run.id()), is_counted ? 1U : 0U);
  if (!is_checkpoint && !said.empty()) {
    for (const std::string& text : {table_says, status_says}) expect_contains(text, {run.id(), name, said});
    expect_contains(table_says, {"che run"});
    expect_contains(status_says, {"1 damaged"});
  } else {
    EXPECT_EQ(table_says, "");
    EXPECT_FALSE(contains(status_says, "damaged")) << status_says;
  }

  const std::string run_says = start_run(scratch.path());
  const bool run_names_it = !said.empty() && !(name == "config.yaml" && kind.name == "missing");
  if (run_names_it) {
    expect_contains(run_says, {run.id(), name, said});
  } else {
    EXPECT_EQ(run_says, "");
  }
  if (run_names_it && kind.name != "missing") {
    EXPECT_TRUE(is_present(run.path() / (name + ".damaged"))) << "not kept";
  }
  const bool is_part = name == "windows.csv" || name == "positions.csv";
  EXPECT_EQ(is_part && !said.empty(), is_present(run.path() / "evaluation.csv.replaced")) << "rows were lost";
  EXPECT_EQ(read_file(run.path() / "config.yaml"), stored_config_text(config(0)));
  EXPECT_EQ(start_run(scratch.path()), "") << "said again";
  // What the worker then computes again, or knows.
  run.write_evaluation(good.evaluation);
  run.write_metrics(good.metrics);
  run.write_status(good.status);
  std::string after_says;
  EXPECT_EQ(scores(scratch.path(), after_says), before);
  EXPECT_EQ(after_says, "");
}

std::string name_of(const testing::TestParamInfo<Case>& one) {
  const std::string& file = one.param.file;
  return file.substr(0, file.find('.')) + "_" + one.param.kind.name;
}

INSTANTIATE_TEST_SUITE_P(OfTasks, DamageTable, testing::ValuesIn(cases(false)), name_of);
INSTANTIATE_TEST_SUITE_P(OfTexts, DamageTable, testing::ValuesIn(cases(true)), name_of);

TEST(DamageCases, AreMany) { EXPECT_GE(cases(false).size(), 120U); }

}  // namespace
}  // namespace che
