#include "plots/gnuplot.h"

#include <gtest/gtest.h>

#include "core/atomic_file.h"
#include "core/error.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(Gnuplot, SaysHowToGetItWhenItIsMissing) {
  try {
    run_gnuplot("plot x\n", "no-such-gnuplot");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kRuntime);
    EXPECT_NE(std::string(error.what()).find("no-such-gnuplot is not on the PATH; install"),
              std::string::npos)
        << error.what();
  }
}

TEST(Gnuplot, RunsTheScript) {
  const ScratchFolder scratch;
  const std::string file = (scratch.path() / "it's").string();
  run_gnuplot("set print " + gnuplot_string(file) + "\nprint 6 * 7\n");
  EXPECT_EQ(read_file(file), "42\n");
}

TEST(Gnuplot, PassesOnWhatItComplainsAbout) {
  const std::string message = message_of([] { run_gnuplot("plot no_such_function(x)\n"); });
  EXPECT_NE(message.find("no_such_function"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(Gnuplot, SurvivesAProgramThatReadsNothing) {
  EXPECT_NE(message_of([] { run_gnuplot(std::string(1 << 20, '#') + "\n", "false"); }), "(no error)");
}

}  // namespace
}  // namespace che
