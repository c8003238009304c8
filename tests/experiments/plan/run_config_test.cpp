#include "experiments/plan/run_config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/config/field_list.h"
#include "core/config/reader.h"
#include "experiments/plan/identity.h"
#include "tests/contains.h"
#include "tests/message_of.h"

namespace che {
namespace {

const std::vector<Role> kIdentity = {Role::kCell, Role::kRepetition};

void set(RunConfig& config, std::string_view path, std::string_view yaml) {
  assign_path(path, parse_config(yaml, "x.yaml"),
              [&](FieldVisitor& visitor) { config.visit_fields(visitor); });
}

RunConfig config_with(std::initializer_list<std::pair<std::string_view, std::string_view>> settings) {
  RunConfig config;
  for (const auto& [path, yaml] : settings) set(config, path, yaml);
  return config;
}

std::string check_error(std::initializer_list<std::pair<std::string_view, std::string_view>> settings) {
  const RunConfig config = config_with(settings);
  return message_of([&] { config.check(); });
}

EncodingConfig encoding_of(std::string_view yaml) { return config_with({{"encoding", yaml}}).encoding; }

TEST(Config, DefaultsAreSound) { EXPECT_NO_THROW(RunConfig{}.check()); }

TEST(Config, EncodingShorthands) {
  EncodingConfig encoding = encoding_of("dape_kerple");
  EXPECT_EQ(encoding.name, "kerple");
  EXPECT_TRUE(encoding.dape.has_value());
  EXPECT_FALSE(encoding.is_randomized());
  encoding = encoding_of("randomized_dape_alibi");
  EXPECT_EQ(encoding.name, "alibi");
  EXPECT_TRUE(encoding.dape.has_value());
  EXPECT_TRUE(encoding.is_randomized());
  encoding.reset("rope");
  EXPECT_FALSE(encoding.is_randomized());
  EXPECT_FALSE(encoding.dape.has_value());
  encoding.reset("");
  EXPECT_EQ(encoding.name, "none");
}

TEST(Config, ShorthandIsWhatResetReads) {
  for (const std::string text : {"none", "rope", "randomized_rope", "dape_alibi", "randomized_dape_kerple"}) {
    EXPECT_EQ(encoding_of(text).form().text(), text);
    EXPECT_EQ(encoding_of(text).label().text(), text);
  }
}

TEST(Config, OptionsStandNextToTheName) {
  const EncodingConfig encoding = encoding_of(
      "{dape: {hidden: 16, variant: concat}, direction: left_only, positions: randomized, name: kerple}");
  EXPECT_EQ(encoding.options.values().at("direction"), "left_only");
  EXPECT_EQ(encoding.dape->hidden, 16);
  EXPECT_EQ(encoding.dape->variant, DapeVariant::kConcat);
  EXPECT_TRUE(encoding.is_randomized());
  EXPECT_EQ(config_with({{"task", "{order: odd_first, name: odds_first}"}}).task.options.values().at("order"),
            "odd_first");
}

TEST(Config, ANewNameDropsTheOldOnesOptions) {
  const RunConfig config =
      config_with({{"encoding", "{name: kerple, direction: symmetric, positions: randomized}"},
                   {"encoding.name", "rope"}});
  EXPECT_EQ(config.encoding.label().text(), "randomized_rope");
}

TEST(Config, LabelShowsEverySettingOffItsDefault) {
  EXPECT_EQ(encoding_of("{name: kerple, dape: {hidden: 16}}").label().text(), "dape_kerple(dape.hidden=16)");
  EXPECT_EQ(
      encoding_of("{name: kerple, dape: {hidden: 64, variant: add}, direction: left_only}").label().text(),
      "dape_kerple(direction=left_only, dape.variant=add)");
  EXPECT_EQ(encoding_of("{name: rope, positions: randomized, max_position: 4096}").label().text(),
            "randomized_rope(max_position=4096)");
  EXPECT_EQ(encoding_of("{name: rope, max_position: 4096}").label().text(), "rope")
      << "contiguous positions do not read it";
}

TEST(Config, LongestSequenceOfTrainingAndEvaluation) {
  const auto longest = [](std::string_view evaluation, std::string_view training) {
    return config_with(
               {{"task", "modular_arithmetic_simple"}, {"evaluation", evaluation}, {"training", training}})
        .longest_sequence();
  };
  // The task emits one input symbol fewer for an even length, and one output symbol.
  EXPECT_EQ(longest("{first_length: 41, last_length: 500}", "{}"), 500);
  EXPECT_EQ(longest("{first_length: 499, last_length: 499}", "{}"), 500);
  EXPECT_EQ(longest("{first_length: 42, last_length: 501, length_step: 2}", "{}"), 500);
  EXPECT_EQ(longest("{first_length: 1, last_length: 1}", "{last_length: 40}"), 40);
  EXPECT_EQ(longest("{first_length: 1, last_length: 1}", "{first_length: 40, last_length: 40}"), 40);
  EXPECT_EQ(longest("{first_length: 1, last_length: 1}", "{last_length: 41}"), 42);
}

TEST(Config, EvaluationLengths) {
  EvaluationConfig evaluation{.first_length = 41, .last_length = 50, .length_step = 4};
  EXPECT_EQ(evaluation.lengths(), (std::vector<std::int64_t>{41, 45, 49}));
}

TEST(Config, Tf32IsForGpus) {
  for (const char* device : {"cuda", "auto"}) {
    EXPECT_EQ(check_error({{"execution.precision", "tf32"}, {"execution.device", device}}), "(no error)");
  }
}

// TF32 and `auto` leave ids as they were; a run in bf16 is another run.
TEST(Config, IdentityHoldsBf16) {
  const auto id = [](Precision precision) {
    RunConfig config;
    config.execution.precision = precision;
    return run_id(config);
  };
  EXPECT_EQ(run_id(RunConfig()), id(Precision::kTf32));
  EXPECT_EQ(run_id(RunConfig()), id(Precision::kAuto));
  EXPECT_NE(run_id(RunConfig()), id(Precision::kBf16));
  const RunConfig config = config_with({{"execution.precision", "bf16"}});
  EXPECT_EQ(identity_text(config, kIdentity),
            "encoding.name=none\nexecution.precision=bf16\ntask.name=reverse_string\n");
  const CellLabels labels = label_cells({RunConfig(), config});
  EXPECT_EQ("none", labels.of[0].encoding.text());
  EXPECT_EQ("none(execution.precision=bf16)", labels.of[1].encoding.text());
}

TEST(Config, IdentityHoldsNamesAndWhatIsOffItsDefault) {
  EXPECT_EQ(identity_text(RunConfig{}, kIdentity), "encoding.name=none\ntask.name=reverse_string\n");
  const RunConfig config = config_with({{"encoding", "{name: kerple, dape: {}, direction: half_offset}"},
                                        {"learning_rate", "1e-3"},
                                        {"training.steps", "200000"},
                                        {"evaluation.samples", "64"},
                                        {"execution.threads", "2"}});
  EXPECT_EQ(identity_text(config, kIdentity),
            "encoding.dape=present\nencoding.name=kerple\nlearning_rate=0.001\ntask.name=reverse_string\n");
  EXPECT_EQ(identity_text(config, {Role::kEvaluation, Role::kExecution}),
            "evaluation.samples=64\nexecution.threads=2\n");
}

// The direction of kerple was half_offset by default when the first runs were stored: these keep their ids,
// and the default of today, symmetric, is part of an id.
TEST(Config, AChangedDefaultChangesNoStoredId) {
  const RunConfig stored = config_with({{"task", "even_pairs"},
                                        {"encoding", "{name: kerple, direction: half_offset}"},
                                        {"learning_rate", "1e-3"},
                                        {"model", "{width: 64, layers: 3, heads: 8}"},
                                        {"training", "{steps: 4800, batch_size: 32}"}});
  EXPECT_EQ(run_id(stored), "even_pairs-kerple-lr0.001-seed0-18c5f1053b8f");
  EXPECT_EQ(stored.encoding.label().text(), "kerple(direction=half_offset)");
  const RunConfig now = config_with({{"encoding", "kerple"}});
  EXPECT_EQ(identity_text(now, kIdentity),
            "encoding.direction=symmetric\nencoding.name=kerple\ntask.name=reverse_string\n");
  EXPECT_EQ(now.encoding.label().text(), "kerple");
  EXPECT_EQ(run_id(parse_run_config(to_yaml(stored), "x.yaml")), run_id(stored));
  EXPECT_EQ(run_id(parse_run_config(to_yaml(now), "x.yaml")), run_id(now));
}

TEST(Config, ARenamedFieldChangesNoStoredId) {
  const RunConfig run = config_with({{"task", "{name: odds_first, order: odd_first}"}});
  EXPECT_EQ(run_id(run), "odds_first-none-lr0.0003-seed0-80821aad1a09");
  EXPECT_EQ(cell_id(run), "odds_first-none-5fb56bc98df5");
  EXPECT_EQ(identity_text(run, kIdentity),
            "encoding.name=none\ntask.name=odds_first\ntask.order=odd_first\n");
}

// Every field that determines the trained parameters changes the id, and no other field does.
TEST(Config, IdsChangeOnlyWithIdentity) {
  const RunConfig base = config_with({{"encoding", "{name: kerple, positions: randomized, dape: {}}"}});
  const auto changed = [&](std::string_view path, std::string_view yaml) {
    RunConfig config = base;
    set(config, path, yaml);
    return std::pair(run_id(config) != run_id(base), cell_id(config) != cell_id(base));
  };
  const std::pair cell(true, true);
  const std::pair replica(true, false);
  const std::pair outside(false, false);
  for (const auto& [path, yaml, expected] :
       std::vector<std::tuple<std::string, std::string, std::pair<bool, bool>>>{
           {"task", "parity_check", cell},
           {"encoding.name", "alibi", cell},
           {"encoding.direction", "left_only", cell},
           {"encoding.dape.hidden", "16", cell},
           {"encoding.dape.variant", "add", cell},
           {"encoding.attention_scale", "ssmax", cell},
           {"encoding.positions", "contiguous", cell},
           {"encoding.max_position", "4096", cell},
           {"seed", "1", replica},
           {"learning_rate", "0.1", replica},
           {"data_seed", "1", replica},
           {"model.width", "64", cell},
           {"model.layers", "1", cell},
           {"model.heads", "4", cell},
           {"model.ffn_multiple", "2", cell},
           {"training.steps", "1", cell},
           {"training.warmup_steps", "1", cell},
           {"training.batch_size", "1", cell},
           {"training.first_length", "2", cell},
           {"training.last_length", "41", cell},
           {"training.clip_norm", "2", cell},
           {"training.dropout", "0", cell},
           {"evaluation",
            "{first_length: 2, last_length: 3, length_step: 2, samples: 64, seed: 1, eval_dropout: true}",
            outside},
           {"execution", "{replicas: 2, threads: 2, checkpoint_seconds: 1, memory_gib: 1}", outside},
           {"log", "{tensorboard: true, every_steps: 1}", outside}}) {
    EXPECT_EQ(changed(path, yaml), expected) << path;
  }
}

TEST(Config, IdsAreReadableAndStayAsTheyAre) {
  // A change here orphans every stored result: raise the format tag only together with a migration.
  EXPECT_EQ(run_id(RunConfig{}), "reverse_string-none-lr0.0003-seed0-a33af9100719");
  EXPECT_EQ(cell_id(RunConfig{}), "reverse_string-none-59eeea9e0445");
  const RunConfig config =
      config_with({{"encoding", "{name: kerple, dape: {hidden: 16}, positions: randomized}"},
                   {"learning_rate", "1e-5"},
                   {"seed", "12"}});
  EXPECT_TRUE(run_id(config).starts_with("reverse_string-randomized_dape_kerple-lr1e-05-seed12-"))
      << run_id(config);
  const RunConfig decoder = config_with({{"model.kind", "decoder"}, {"encoding", "rope"}});
  EXPECT_TRUE(run_id(decoder).starts_with("reverse_string-decoder-rope-lr0.0003-seed0-")) << run_id(decoder);
  EXPECT_TRUE(cell_id(decoder).starts_with("reverse_string-decoder-rope-")) << cell_id(decoder);
}

// Whatever the order in which they are set.
TEST(Config, ADecodersShapeIsCausal) {
  RunConfig config = config_with({{"model.width", "64"}, {"model.kind", "decoder"}});
  EXPECT_TRUE(std::as_const(config).model.shape().causal);
  EXPECT_EQ(config.model.shape().width, 64);
  EXPECT_TRUE(config.model.shape().causal);
  set(config, "model.kind", "encoder");
  EXPECT_FALSE(config.model.shape().causal);
}

TEST(Config, YamlRoundTripsExactly) {
  const RunConfig written = config_with({{"task", "{name: odds_first, order: odd_first}"},
                                         {"encoding",
                                          "{name: kerple, direction: left_only, positions: randomized, "
                                          "max_position: 3000, dape: {hidden: 4, variant: bias_only}}"},
                                         {"learning_rate", "0.30000000000000004"},
                                         {"seed", "9007199254740992"},
                                         {"evaluation", "{eval_dropout: true, seed: 5}"},
                                         {"execution.memory_gib", "0.5"}});
  const RunConfig read = parse_run_config(to_yaml(written), "x.yaml");
  EXPECT_EQ(to_yaml(read), to_yaml(written));
  EXPECT_EQ(run_id(read), run_id(written));
  EXPECT_EQ(read.learning_rate, written.learning_rate);
  EXPECT_EQ(read.encoding.label(), written.encoding.label());
  EXPECT_TRUE(read.evaluation.eval_dropout);
}

TEST(Config, YamlNamesEveryField) {
  RunConfig config = config_with({{"encoding", "dape_kerple"}});
  const ConfigNode root = parse_config(to_yaml(config), "x.yaml");
  for (const FieldRecord& record : describe_fields(fields_of(config))) {
    const ConfigNode* node = &root;
    std::string_view rest = record.path;
    while (!rest.empty()) {
      const ConfigEntry* const entry = node->find(rest.substr(0, rest.find('.')));
      ASSERT_NE(entry, nullptr) << record.path;
      node = &entry->value;
      rest.remove_prefix(std::min(rest.size(), entry->key.size() + 1));
    }
    EXPECT_FALSE(record.help.empty() && record.path != "encoding.direction") << record.path;
  }
}

TEST(Config, KeepsSettingsOfTheModelBesideItsKind) {
  const RunConfig narrow = config_with({{"model.width", "64"}});
  const auto width = [&](const std::vector<std::string>& settings) {
    const RunConfig changed = with_settings(narrow, settings);
    EXPECT_EQ(changed.model.kind, "rnn");
    return changed.model.width();
  };
  EXPECT_EQ(width({"model.kind=rnn"}), 64);
  EXPECT_EQ(width({"model.kind=rnn", "model.width=32"}), 32);
  EXPECT_EQ(width({"model.width=32", "model.kind=rnn"}), 32);
  EXPECT_EQ(width({"model={kind: rnn}"}), RunConfig().model.width());
  const RunConfig deep = config_with({{"model.layers", "7"}});
  EXPECT_EQ(with_settings(deep, {"model.kind=decoder"}).model.shape().layers, 7);
  expect_contains(message_of([&] { with_settings(deep, {"model.kind=rnn"}); }),
                  {"model.layers", "unknown key"});
  EXPECT_EQ("seed: is set twice; keep one of them", message_of([&] {
              with_settings(deep, {"seed=1", "seed=2"});
            }));
}

TEST(Config, ParseRunConfigNamesTheSource) {
  EXPECT_EQ(message_of([] { parse_run_config("model: {heads: 3}\n", "x.yaml"); }),
            "x.yaml: model.heads: 3 heads do not divide model.width 256; allowed: divisors of the width");
}

}  // namespace
}  // namespace che
