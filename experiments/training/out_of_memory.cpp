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
// Of GPUs, a c10::OutOfMemoryError: "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has ...".
constexpr std::string_view kAmount = "Tried to allocate ";

// " (2.5 GiB more were needed)", as far as the message says.
std::string amount_in(std::string_view text) {
  if (const std::size_t bytes = text.find(kBytes); bytes != std::string_view::npos) {
    return fmt::format(
        " ({:.3g} GiB more were needed)",
        std::strtod(std::string(text.substr(bytes + kBytes.size(), 30)).c_str(), nullptr) / 0x1p30);
  }
  const std::size_t amount = text.find(kAmount);
  if (amount == std::string_view::npos) return "";
  const std::string_view rest = text.substr(amount + kAmount.size());
  return fmt::format(" ({} more were needed)", rest.substr(0, rest.find(". ")));
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  return dynamic_cast<const c10::Error*>(&error) != nullptr &&
         std::string_view(error.what()).find(kAllocator) != std::string_view::npos;
}

std::string failure_text(const std::exception& error) {
  if (!is_out_of_memory(error)) {
    const auto* const torch = dynamic_cast<const c10::Error*>(&error);
    return first_line(torch != nullptr ? torch->what_without_backtrace() : error.what());
  }
  return fmt::format(
      "out of memory{}; use fewer workers, a smaller model, training.batch_size or execution.replicas, or a "
      "lower execution.memory_gib",
      amount_in(error.what()));
}

}  // namespace che
