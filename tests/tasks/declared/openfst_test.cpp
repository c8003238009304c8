// OpenFST reads the automata that tasks are made of, and accepts the same strings.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "tasks/declared/automaton_task.h"
#include "tasks/declared/finite_automaton.h"
#include "tests/tasks/declared/openfst_acceptor.h"

namespace che {
namespace {

void expect_agreement(const TaskDefinition& definition, const std::string& text, RandomStream& random,
                      int strings, int& accepted) {
  const OpenFstAcceptor automaton(text, definition.automaton.symbols);
  const AutomatonTask task(definition);
  for (int i = 0; i < strings; ++i) {
    std::vector<std::uint8_t> input(1 + random.below(20));
    for (std::uint8_t& symbol : input) {
      symbol = static_cast<std::uint8_t>(random.below(definition.automaton.symbols.size()));
    }
    std::vector<std::uint8_t> output(1);
    task.answer(input, output);
    ASSERT_EQ(output[0] == 1, automaton.accepts(input)) << text << testing::PrintToString(input);
    accepted += output[0];
  }
}

TEST(OpenFst, AgreesOnRandomAutomata) {
  RandomStream random(1, Purpose::kData);
  int accepted = 0;
  int automata = 0;
  while (automata < 300) {
    const std::string symbols = std::string("abcd").substr(0, 2 + random.below(3));
    const std::uint32_t states = 1 + random.below(8);
    std::string text;
    for (std::uint32_t state = 0; state < states; ++state) {
      for (const char symbol : symbols) {
        if (random.below(5) == 0) continue;  // A missing transition.
        text += std::to_string(state) + "\t" + std::to_string(random.below(states)) + "\t" + symbol + "\n";
      }
      if (random.below(2) == 0) text += std::to_string(state) + "\n";
    }
    std::string yaml = "name: random_one\nanswer: accept\nsymbols: [";
    for (const char symbol : symbols) yaml += std::string(yaml.ends_with('[') ? "" : ", ") + symbol;
    yaml += "]\nautomaton: \"";
    for (const char c : text) yaml += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
    TaskDefinition definition;
    try {
      definition = parse_task_definition(yaml + "\"\n", "random");
    } catch (const Error&) {
      continue;  // No task: empty, or every string is accepted or none.
    }
    ++automata;
    expect_agreement(definition, text, random, 100, accepted);
    // And on what is stored with a run.
    expect_agreement(definition, att_text(definition.automaton, ""), random, 20, accepted);
  }
  EXPECT_GT(accepted, 5'000);
}

TEST(OpenFst, AgreesOnTheShippedAutomata) {
  RandomStream random(2, Purpose::kData);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CHE_SOURCE_DIR "/tasks/files")) {
    if (!is_task_file(entry.path().string())) continue;
    const TaskDefinition definition = read_task_file(entry.path());
    if (!definition.group.empty() || definition.answer != AnswerKind::kAccept) continue;
    int accepted = 0;
    expect_agreement(definition, att_text(definition.automaton, ""), random, 2'000, accepted);
    EXPECT_GT(accepted, 0) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 10) << "two twins, Tomita's seven and brackets";
}

// What OpenFST finds to be no deterministic acceptor is no task.
TEST(OpenFst, AgreesOnEpsilonAndNondeterminism) {
  EXPECT_FALSE(OpenFstAcceptor("0 1 a\n0 0 a\n1\n", "ab").is_deterministic());
  EXPECT_TRUE(OpenFstAcceptor("0 1 <eps>\n1\n", "ab").has_epsilon());
  const OpenFstAcceptor plain("0 1 a\n0 0 b\n1\n", "ab");
  EXPECT_TRUE(plain.is_deterministic() && !plain.has_epsilon());
  for (const char* text : {"0 1 a\\n0 0 a\\n1\\n", "0 1 <eps>\\n1\\n"}) {
    EXPECT_THROW(
        parse_task_definition(
            std::string("name: t\nanswer: accept\nsymbols: [a, b]\nautomaton: \"") + text + "\"\n", "t"),
        Error);
  }
}

}  // namespace
}  // namespace che
