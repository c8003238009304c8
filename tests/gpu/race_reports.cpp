#include "tests/gpu/race_reports.h"

#include <gtest/gtest.h>

#include <atomic>

namespace {

std::atomic<int> reported = 0;
std::atomic<int> expected = 0;

}  // namespace

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer calls this at every report.
extern "C" void __tsan_on_report(void* /*report*/);
void __tsan_on_report(void* /*report*/) { ++reported; }

// Planted races are expected; others fail AllRacesAreExpected below.
extern "C" const char* __tsan_default_options();
const char* __tsan_default_options() {
  return "exitcode=0:report_bugs=1:suppress_equal_stacks=0:suppress_equal_addresses=0";
}
#endif

namespace che {
namespace {

class AllRacesAreExpected : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    const int unexpected = reported.exchange(0) - expected.exchange(0);
    EXPECT_LE(unexpected, 0) << "ThreadSanitizer reports races";
  }
};

// Before any test starts; the listeners own it.
[[maybe_unused]] const bool kListens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new AllRacesAreExpected);
  return true;
}();

}  // namespace

int race_reports() { return reported; }

void expect_races(int count) { expected += count; }

}  // namespace che
