#pragma once

#include <cstdlib>
#include <string>

namespace che {

// While it lives, tests/gpu/stand_in_python stands before every other interpreter on the PATH. `kind` says
// how it answers: "all", "none" or "no_gpu". When it is first asked, it copies the file `report`, if given,
// to `report`.when_asked.
class StandInPython {
 public:
  explicit StandInPython(const char* kind, const std::string& report = "") {
    ::setenv("PATH", (std::string(CHE_SOURCE_DIR "/tests/gpu/stand_in_python:") + path_).c_str(), 1);
    ::setenv("CHE_STAND_IN", kind, 1);
    ::setenv("CHE_STAND_IN_REPORT", report.c_str(), 1);
  }
  ~StandInPython() {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("CHE_STAND_IN");
    ::unsetenv("CHE_STAND_IN_REPORT");
  }
  StandInPython(const StandInPython&) = delete;
  StandInPython& operator=(const StandInPython&) = delete;

 private:
  std::string path_ = std::getenv("PATH");
};

}  // namespace che
