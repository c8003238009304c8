#include "experiments/training/out_of_memory.h"

#include <c10/util/Exception.h>
#include <fmt/core.h>

#include <cstdlib>
#include <new>
#include <string_view>

namespace che {
namespace {

// c10/core/impl/alloc_cpu.cpp: "DefaultCPUAllocator: can't allocate memory: you tried to allocate 123
// bytes.", or "not enough memory"; there is no type of its own for it.
constexpr std::string_view kAllocator = "DefaultCPUAllocator: ";
constexpr std::string_view kBytes = "you tried to allocate ";

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  return dynamic_cast<const c10::Error*>(&error) != nullptr &&
         std::string_view(error.what()).find(kAllocator) != std::string_view::npos;
}

std::string failure_text(const std::exception& error) {
  if (!is_out_of_memory(error)) {
    const auto* const torch = dynamic_cast<const c10::Error*>(&error);
    return first_line(torch != nullptr ? torch->what_without_backtrace() : error.what());
  }
  const std::string_view text = error.what();
  const std::size_t bytes = text.find(kBytes);
  const std::string amount =
      bytes == std::string_view::npos
          ? ""
          : fmt::format(
                " ({:.3g} GiB more were needed)",
                std::strtod(std::string(text.substr(bytes + kBytes.size(), 30)).c_str(), nullptr) / 0x1p30);
  return fmt::format(
      "out of memory{}; use fewer workers, a smaller model, training.batch_size or execution.replicas, or a "
      "lower execution.memory_gib",
      amount);
}

}  // namespace che
