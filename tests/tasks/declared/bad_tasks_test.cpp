// Files of tasks that are refused, and the message for each, as data: tests/golden/bad_tasks.txt. A case is a
// line, followed by an indented line with the message, or "accepted":
//
//   yaml TEXT      a whole file task.yaml; next to it lie good.att and good.syms of the symbols a and b, and
//                  the FIFO pipe
//   att TEXT       the automaton x.att of a task with the symbols a and b and the answer accept
//   walk TEXT      the same with the answer states and sampled by walks
//   map TEXT       the transducer x.att of a task with the outputs x and y
//   syms TEXT      the symbol table x.syms
//
// with the escapes \n, \t, \\ and \xHH. CHE_UPDATE_GOLDEN=1 writes the messages anew: read the difference.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/declared/task_definition.h"
#include "tests/refusal_table.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

const std::map<std::string, std::string>& heads() {
  static const std::map<std::string, std::string> heads = {
      {"att", "name: t\nsymbols: [a, b]\nanswer: accept\nautomaton: x.att\n"},
      {"walk", "name: t\nsymbols: [a, b]\nanswer: states\nsample: walk\nautomaton: x.att\n"},
      {"map", "name: t\nsymbols: [a, b]\noutputs: [x, y]\nanswer: output\nautomaton: x.att\n"},
      {"syms", "name: t\nsymbols: x.syms\nanswer: accept\nautomaton: good.att\n"}};
  return heads;
}

// What reading the file of a case says, without the folder's path.
std::string outcome(const std::string& line) {
  const ScratchFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name, std::ios::binary) << text;
  };
  const std::string kind = line.substr(0, line.find(' '));
  const std::string text = unescaped(std::string_view(line).substr(std::min(line.size(), kind.size() + 1)));
  write("good.att", "0 0 b\n0 1 a\n1 0 b\n0\n");
  write("good.syms", "<eps> 0\na 1\nb 2\n");
  write("word.syms", "<eps> 0\na 1\nword 2\n");
  ::mkfifo((folder.path() / "pipe").c_str(), 0600);
  if (kind == "yaml") {
    write("task.yaml", text);
  } else {
    write(kind == "syms" ? "x.syms" : "x.att", text);
    write("task.yaml", heads().at(kind));
  }
  return refusal_of([&] { read_task_file(folder.path() / "task.yaml"); }, folder.path().string() + "/", "");
}

TEST(BadTasks, AreRefusedWithTheMessagesOfTheTable) {
  const std::vector<std::string> refusals =
      check_refusal_table(CHE_SOURCE_DIR "/tests/golden/bad_tasks.txt", outcome);
  EXPECT_GE(std::set<std::string>(refusals.begin(), refusals.end()).size(), 60U) << "different messages";
}

}  // namespace
}  // namespace che
