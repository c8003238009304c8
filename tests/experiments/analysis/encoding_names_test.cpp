#include "experiments/analysis/encoding_names.h"

#include <gtest/gtest.h>

#include "tests/message_of.h"

namespace che {
namespace {

EncodingLabel label(const std::string& name, const std::string& scaling = "") {
  EncodingLabel result;
  result.form.name = name;
  if (!scaling.empty()) result.settings = {{"encoding.scaling", scaling}, {"model.width", "16"}};
  return result;
}

std::string refusal(const std::string& name, const ColumnNames& names, const std::string& other = "") {
  return message_of([&] { column_named(name, names, "--compare", other); });
}

TEST(EncodingNames, AreThoseOfTables) {
  const ColumnNames names{.columns = {label("rope"), label("rope", "yarn")}};
  EXPECT_EQ(column_named("rope", names, "--compare"), label("rope"));
  EXPECT_EQ(column_named("rope(scaling=yarn, model.width=16)", names, "--compare"), label("rope", "yarn"));
}

// What a message suggests can be typed as it stands there.
TEST(EncodingNames, AreListedAsAShellTakesThem) {
  const ColumnNames names{.columns = {label("kerple"), label("rope", "ntk"), label("rope", "yarn")}};
  EXPECT_EQ(refusal("rope", names),
            "--compare: 'rope' stands for 2 columns; name one of them: 'rope(scaling=ntk, model.width=16)', "
            "'rope(scaling=yarn, model.width=16)'");
  EXPECT_EQ(refusal("kerpel", names),
            "--compare: 'kerpel' is no encoding of this experiment; did you mean 'kerple'?; known: kerple, "
            "'rope(scaling=ntk, model.width=16)', 'rope(scaling=yarn, model.width=16)'");
  EXPECT_EQ(refusal("quantum", {.columns = {label("kerple")}}),
            "--compare: 'quantum' is no encoding of this experiment; known: kerple");
}

TEST(EncodingNames, SuggestTheFormWithSettings) {
  const ColumnNames names{.columns = {label("kerple"), label("rope", "yarn")}};
  for (const char* const name : {"rope", "rope(model.width=16)"}) {
    EXPECT_NE(refusal(name, names).find("did you mean 'rope(scaling=yarn, model.width=16)'?"),
              std::string::npos)
        << refusal(name, names);
  }
}

TEST(EncodingNames, SuggestNothingThatIsNamedAlready) {
  const ColumnNames names{.columns = {label("kerple"), label("rope")}};
  EXPECT_EQ(refusal("kerp", names, "kerple"),
            "--compare: 'kerp' is no encoding of this experiment; known: kerple, rope");
}

TEST(EncodingNames, SayWhyAColumnIsNotThere) {
  const ColumnNames names{
      .columns = {label("kerple")}, .not_chosen = {label("rope", "yarn")}, .unfinished = {label("alibi")}};
  for (const char* const name : {"rope", "rope(scaling=yarn, model.width=16)"}) {
    EXPECT_NE(refusal(name, names).find("' is left out by --only; there are: kerple"), std::string::npos)
        << refusal(name, names);
  }
  EXPECT_EQ(refusal("alibi", names), "--compare: 'alibi' has no finished run; there are: kerple");
}

}  // namespace
}  // namespace che
