#pragma once

#include <string>

#include "core/error.h"

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

}  // namespace che
