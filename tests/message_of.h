#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "tests/contains.h"

namespace che {

// The message of the Error that `action` throws; "(no error)" when it throws none.
template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

// Expects `action` to throw an Error of this kind, with all of `parts` in its message.
template <class Action>
void expect_error(ErrorKind kind, const std::vector<std::string>& parts, const Action& action) {
  try {
    action();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    expect_contains(error.what(), parts);
  }
}

}  // namespace che
