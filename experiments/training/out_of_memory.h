#pragma once

#include <exception>
#include <string>

namespace che {

// Whether the system refused memory: std::bad_alloc, or LibTorch's error of its allocator.
bool is_out_of_memory(const std::exception& error);

// What to tell a user of an exception, in one line: of memory that was refused how much was asked for and
// what helps, of LibTorch's errors what comes before the backtrace.
std::string failure_text(const std::exception& error);

}  // namespace che
