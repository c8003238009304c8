#include "plots/gnuplot/gnuplot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "core/error.h"
#include "tests/message_of.h"

namespace che {
namespace {

TEST(Gnuplot, SaysHowToGetItWhenItIsMissing) {
  try {
    run_gnuplot("plot x\n", "no-such-gnuplot");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    EXPECT_NE(std::string(error.what()).find("no-such-gnuplot is not on the PATH; install"),
              std::string::npos)
        << error.what();
  }
}

TEST(Gnuplot, ReturnsWhatTheScriptWritesToItsOutput) {
  EXPECT_EQ(
      run_gnuplot(fmt::format("set print '{}'\nprint 6 * 7, {}\n", kGnuplotOutput, gnuplot_string("it's"))),
      "42 it's\n");
}

// Nothing is left of a figure whose process was killed: there is no folder for temporary files.
TEST(Gnuplot, NeedsNoTemporaryFolder) {
  const char* const folder = std::getenv("TMPDIR");
  const std::string before = folder == nullptr ? "" : folder;
  ::setenv("TMPDIR", "/nonexistent", 1);
  for (const std::string format : {"svg", "pdf", "png"}) {
    EXPECT_GT(run_gnuplot(gnuplot_output({format, 0}, kGnuplotOutput, 300, 200, 12) + "plot x\nset output\n")
                  .size(),
              500U)
        << format;
  }
  folder == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before.c_str(), 1);
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
