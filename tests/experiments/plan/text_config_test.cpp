// Configs of runs on a text: second defaults, identity, and what does not go together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/files.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_workload.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/scratch_folder.h"
#include "texts/corpus_maker.h"

namespace che {
namespace {

std::string with(const std::string& settings) { return "name: x\nbase:\n  encoding: kerple\n" + settings; }

RunConfig text_run(const std::string& settings = "  text: austen\n") {
  return read(with(settings)).runs.at(0);
}

TEST(TextConfig, NamingATextSetsOtherDefaults) {
  const RunConfig run = text_run();
  EXPECT_EQ(run.training.last_length, 128);
  EXPECT_EQ(run.training.dropout, 0);
  EXPECT_EQ(run.training.beta2, 0.95);
  EXPECT_EQ(run.training.warmup(), 2000);
  EXPECT_EQ(run.evaluation.samples, 64);
  EXPECT_EQ(run.evaluation.lengths().back(), 8192);
  EXPECT_EQ(run.model.kind, "decoder");
  EXPECT_EQ(text_run("  training: {dropout: 0.2, steps: 50}\n  text: austen\n").training.dropout, 0.2);
  EXPECT_EQ(text_run("  training: {steps: 50, warmup_steps: 7}\n  text: austen\n").training.warmup(), 7);
}

// A text's defaults are in the place of a task's only where the config is silent.
TEST(TextConfig, WhatAConfigSetsStaysWhereverTheTextComesFrom) {
  const std::string set =
      "  training: {schedule: constant, dropout: 0.1, beta2: 0.999, weight_decay: 0, first_length: 1, "
      "last_length: 40}\n  evaluation: {lengths: [128], samples: 512, part: validation}\n"
      "  model: {block: post_norm}\n";
  const std::string expected = to_yaml(text_run(set + "  text: austen\n"));
  EXPECT_THAT(expected, testing::HasSubstr("block: post_norm"));
  EXPECT_EQ(to_yaml(read(with(set) + "axes: {text: [austen]}\n").runs.at(0)), expected);
  EXPECT_EQ(to_yaml(read(with(set), {"text=austen"}).runs.at(0)), expected);
  EXPECT_EQ(to_yaml(read(with(set) + "axes: {form: [{label: a, text: austen}]}\n").runs.at(0)), expected);
  const ScratchFolder folder;
  write_file_atomically(folder.path() / "parent.yaml", with(set));
  write_file_atomically(folder.path() / "child.yaml",
                        "name: x\nextends: parent.yaml\nbase: {text: austen}\n");
  EXPECT_EQ(to_yaml(read_sweep(folder.path() / "child.yaml", {}).runs.at(0)), expected);
  expect_contains(error_of(with("  task: even_pairs\n"), {"text=austen"}),
                  {"x.yaml:4: base.task: the run models the text austen", "never both"});
}

TEST(TextConfig, AnotherTextTakesThePlaceOfOneThatIsMissing) {
  EXPECT_EQ(read(with("  text: /nowhere/corpus\n"), {"text=austen"}).runs.at(0).text.name, "austen");
  expect_contains(error_of(with("  text: /nowhere/corpus\n"), {}), {"base.text", "/nowhere/corpus"});
}

TEST(TextConfig, AFolderIsStoredByItsPathAndNeverTakenForAShippedCorpus) {
  const ScratchFolder scratch;
  const auto copy_to = [&](const char* name, const char* word, const char* other) {
    std::filesystem::copy(CHE_SOURCE_DIR "/data/text/austen", scratch.path() / name);
    std::string card = read_file(scratch.path() / name / "corpus.json");
    card.replace(card.find(word), std::string(word).size(), other);
    write_file_atomically(scratch.path() / name / "corpus.json", card);
  };
  copy_to("austen", "\"train\": 4,\n    \"validation\": 1", "\"train\": 3,\n    \"validation\": 2");
  copy_to("mine", "\"austen\"", "\"mine\"");
  std::filesystem::create_directory(scratch.path() / "a\tb");
  copy_to("a\tb/mine", "\"austen\"", "\"mine\"");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  const std::string shadowed = error_of(with("  text: austen\n"), {});
  const RunConfig austen = text_run("  text: ./austen\n");
  const RunConfig mine = text_run("  text: mine\n");
  std::filesystem::current_path("a\tb");
  const std::string odd = error_of(with("  text: ./mine\n"), {});
  std::filesystem::current_path(before);
  expect_contains(shadowed, {"austen is a corpus that comes with che", "./austen"});
  expect_contains(odd, {"of a corpus has characters that no config holds; allowed: UTF-8"});
  EXPECT_EQ(austen.text.corpus, (scratch.path() / "austen").string());
  EXPECT_EQ(mine.text.corpus, (scratch.path() / "mine").string());
}

TEST(TextConfig, StoredConfigsAreReadWithoutTheCorpus) {
  RunConfig run = text_run("  text: austen\n  evaluation: {lengths: [16, 32, 48, 64]}\n");
  run.text.corpus = "/nowhere/austen";
  const RunConfig read_back = parse_run_config(to_yaml(run), "config.yaml");
  EXPECT_EQ(to_yaml(read_back), to_yaml(run));
  EXPECT_EQ(run_id(read_back), run_id(run));
  expect_error(ErrorKind::kUsage, {"there is no corpus '/nowhere/austen'"},
               [&] { create_workload(read_back)->vocabulary(); });
  // The name is a key of what is drawn, and tables show it.
  run.text.corpus = "austen";
  run.text.name = "another";
  expect_error(ErrorKind::kUsage, {" is austen of hash ", "the run is about another of hash "},
               [&] { create_workload(run)->vocabulary(); });
}

TEST(TextConfig, TheIdHasTheContentsAndNotTheFolder) {
  const ScratchFolder scratch;
  const auto copy = [&](const std::string& name) {
    std::filesystem::copy(CHE_SOURCE_DIR "/data/text/austen", scratch.path() / name);
    return text_run("  text: " + (scratch.path() / name).string() + "\n");
  };
  EXPECT_EQ(run_id(copy("one")), run_id(text_run()));
  RunConfig other = text_run();
  other.text.hash = "0123456789abcdef";
  EXPECT_NE(run_id(other), run_id(text_run()));
  // The defaults of its kind are no part of an id.
  EXPECT_EQ(run_id(text_run("  text: austen\n  training: {beta2: 0.95}\n")), run_id(text_run()));
  EXPECT_NE(run_id(text_run("  text: austen\n  training: {beta2: 0.999}\n")), run_id(text_run()));
  EXPECT_EQ(run_id(text_run("  text: austen\n  evaluation: {part: validation}\n")), run_id(text_run()));
}

// Tables have a row for each name.
TEST(TextConfig, TwoCorporaOfOneNameAreRefused) {
  const ScratchFolder scratch;
  const auto make = [&](const std::string& folder, const std::string& name, char byte) {
    for (const char* file : {"1.txt", "2.txt"}) {
      write_file_atomically(scratch.path() / file, std::string(5000, byte));
    }
    make_corpus(
        {.name = name, .sources = {scratch.path() / "1.txt", scratch.path() / "2.txt"}, .split = {1, 0, 1}},
        scratch.path() / folder);
    return (scratch.path() / folder).string();
  };
  const std::string one = make("one", "mine", 'a');
  const std::string other = make("other", "mine", 'b');
  const auto sweep = [](const std::string& first, const std::string& second) {
    return with("  evaluation: {lengths: [128]}\naxes: {text: [" + first + ", " + second + "]}\n");
  };
  expect_contains(error_of(sweep(one, other)),
                  {"x.yaml: text: two corpora are called mine", one + " and " + other, "--name"});
  EXPECT_EQ(read(sweep(one, other), {}, {"text.hash=" + read_corpus_card(one).hash()}).runs.size(), 1U);
  const std::string two = sweep(one, make("third", "another", 'b'));
  EXPECT_EQ(read(two).runs.size(), 2U);
  EXPECT_EQ(read(two, {}, {"text=another"}).runs.size(), 1U) << "a name that no corpus of che has";
}

TEST(TextConfig, WindowsAreSettingsOfEvaluation) {
  const RunConfig run = text_run("  text: austen\n  evaluation: {lengths: [64, 128], protocol: full}\n");
  EXPECT_EQ(evaluation_settings(run), (OptionValues{{"longest", "128"}, {"protocol", "full"}}));
  const RunConfig other = with_evaluation_settings(run, {{"protocol", "sliding"}, {"longest", "256"}});
  EXPECT_EQ(other.evaluation.text.protocol, TextProtocol::kSliding);
  EXPECT_EQ(other.evaluation.text.longest, 256);
  const RunConfig strided = text_run(
      "  text: austen\n  evaluation: {lengths: [64, 128], part: validation, protocol: sliding, stride: 4}\n");
  EXPECT_EQ(
      evaluation_settings(with_changed_settings(strided, {{"longest", "64"}})),
      (OptionValues{{"longest", "64"}, {"part", "validation"}, {"protocol", "sliding"}, {"stride", "4"}}));
  EXPECT_EQ(evaluation_settings(with_changed_settings(strided, {{"part", "test"}})),
            (OptionValues{{"longest", "128"}, {"protocol", "sliding"}, {"stride", "4"}}));
  EXPECT_EQ(evaluation_settings(with_changed_settings(strided, {{"protocol", "full"}})),
            (OptionValues{{"longest", "128"}, {"part", "validation"}, {"protocol", "full"}}));
  const RunConfig packed =
      text_run("  text: austen\n  evaluation: {lengths: [64], windows: packed, last: 8}\n");
  EXPECT_EQ(evaluation_settings(with_changed_settings(packed, {{"protocol", "sliding"}})),
            (OptionValues{{"longest", "64"}, {"protocol", "sliding"}}));
  EXPECT_EQ(evaluation_settings(packed), (OptionValues{{"last", "8"}, {"windows", "packed"}}))
      << "packed windows do not depend on the longest";
}

}  // namespace
}  // namespace che
