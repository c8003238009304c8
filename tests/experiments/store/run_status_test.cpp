#include "experiments/store/run_status.h"

#include <gtest/gtest.h>

#include <string>

namespace che {
namespace {

// A name may be the beginning of another one.
TEST(RunStatus, NamesEachEarlierProgramOnce) {
  const auto computed = [](const char* commit, const char* device) {
    RunStatus status;
    status.git_commit = commit;
    status.device = device;
    return status;
  };
  const RunStatus plain = computed("abc", "cpu");
  const RunStatus reference = computed("abc", "cpu (reference kernels)");
  RunStatus status = computed("def", "cpu");
  for (const RunStatus& before : {reference, plain, reference}) add_earlier(status, before);
  EXPECT_EQ(computed_by(reference) + "; " + computed_by(plain), status.earlier);
  RunStatus again = plain;
  add_earlier(again, status);
  EXPECT_EQ(computed_by(reference) + "; " + computed_by(status), again.earlier) << "not the present one";
  RunStatus later = computed("def", "cpu");
  later.earlier = computed_by(plain);
  add_earlier(later, status);
  EXPECT_EQ(computed_by(plain) + "; " + computed_by(reference), later.earlier);
}

TEST(RunStatus, KeepsAnErrorOfAnyText) {
  for (const std::string& text :
       {std::string(5000, '['), std::string("\xff{\"\\\n"), std::string(5000, '{')}) {
    RunStatus status;
    status.error = text;
    const std::string json = to_json(status, "a-run");
    EXPECT_EQ(to_json(parse_status(json, "a-run", "status.json"), "a-run"), json);
  }
}

}  // namespace
}  // namespace che
