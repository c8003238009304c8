#include "tests/gpu/ptx/ptx.h"

#include <cxxabi.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/process.h"

namespace che::ptx {
namespace {

std::map<std::string, Function>& functions() {
  static std::map<std::string, Function> by_name;
  return by_name;
}

// A kernel's name and template arguments, which both compilers mangle in their own ways where they are in an
// anonymous namespace.
std::string plain_name(const std::string& mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  name = std::regex_replace(name, std::regex("\\(anonymous namespace\\)::|^void "), "");
  // Up to the parameters: the first bracket outside of template arguments.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) return name.substr(0, i);
  }
  return name;
}

// The names of this program's functions by their places in the file.
std::map<std::uintptr_t, std::string> own_functions() {
  std::map<std::uintptr_t, std::string> names;
  std::istringstream symbols(
      run_program({"nm", "--defined-only", std::filesystem::read_symlink("/proc/self/exe").string()}).output);
  std::uintptr_t place = 0;
  std::string kind, name;
  while (symbols >> std::hex >> place >> kind >> name) names[place] = name;
  return names;
}

Function found(const void* kernel) {
  static const auto names = own_functions();
  static const std::uintptr_t moved_by = [] {
    for (const auto& [place, name] : names) {
      if (plain_name(name) == "che::ptx::function_of")
        return reinterpret_cast<std::uintptr_t>(&function_of) - place;
    }
    throw std::runtime_error("the program has no symbols");
  }();
  const auto name = names.find(reinterpret_cast<std::uintptr_t>(kernel) - moved_by);
  const std::string plain = name == names.end() ? "a function without a symbol" : plain_name(name->second);
  const auto function = functions().find(plain);
  if (function == functions().end()) throw std::runtime_error("there is no PTX of " + plain);
  return function->second;
}

// What a kernel did, for warps of 32 threads. A sector has 32 bytes; an access to shared memory takes as many
// wavefronts as different words of it lie in one of the 32 banks.
struct Counts {
  std::int64_t launches = 0, instructions = 0, shared_accesses = 0, wavefronts = 0, global_bytes = 0,
               sectors = 0;
};

// A warp's access to memory: addresses of its lanes.
struct Access {
  Space space = Space::kGlobal;
  unsigned bytes = 0;  // Of a lane.
  std::vector<std::uintptr_t> addresses = {};
};

struct Recorder {
  Counts counts = {};  // Of the launch that goes on.
  std::tuple<unsigned, unsigned, unsigned> block = {};
  // By warp, statement and how often its lanes were there before.
  std::map<std::tuple<unsigned, int, std::int64_t>, Access> accesses = {};
  std::map<std::pair<unsigned, int>, std::int64_t> visits = {};  // By thread and statement.
  std::map<std::string, Counts> by_kernel = {};

  void end_block() {
    for (const auto& [key, access] : accesses) {
      std::set<std::uintptr_t> units;
      const std::uintptr_t unit = access.space == Space::kShared ? 4 : 32;
      for (const std::uintptr_t at : access.addresses) {
        for (std::uintptr_t one = at / unit; one <= (at + access.bytes - 1) / unit; ++one) units.insert(one);
      }
      if (access.space == Space::kGlobal) {
        counts.global_bytes += static_cast<std::int64_t>(access.bytes * access.addresses.size());
        counts.sectors += static_cast<std::int64_t>(units.size());
        continue;
      }
      std::array<std::int64_t, 32> words_of_bank{};
      for (const std::uintptr_t word : units) ++words_of_bank[word % 32];
      ++counts.shared_accesses;
      counts.wavefronts += std::ranges::max(words_of_bank);
    }
    accesses.clear();
    visits.clear();
  }
};

Recorder& recorder() {
  static Recorder the;
  return the;
}

}  // namespace

Registration::Registration(const char* name, Function function) {
  functions().emplace(plain_name(name), function);
}

Function function_of(const void* kernel) {
  static std::map<const void*, Function> known;
  const auto [entry, is_new] = known.try_emplace(kernel, nullptr);
  if (is_new) entry->second = found(kernel);
  return entry->second;
}

const bool is_counting = std::getenv("CHE_PTX_COUNTS") != nullptr;

void note(const unsigned char* at, unsigned bytes, Space space, int place) {
  Recorder& of = recorder();
  const dim3& block = gpu::block_index();
  if (const auto now = std::tuple(block.x, block.y, block.z); now != of.block) {
    of.end_block();
    of.block = now;
  }
  const unsigned thread = gpu::thread_index().x;
  Access& access = of.accesses[{thread / 32, place, of.visits[{thread, place}]++}];
  access.space = space;
  access.bytes = bytes;
  access.addresses.push_back(reinterpret_cast<std::uintptr_t>(at));
}

void count_launch(Function kernel) {
  if (!is_counting) return;
  Recorder& of = recorder();
  of.end_block();
  const auto name = std::ranges::find(functions(), kernel, [](const auto& one) { return one.second; })->first;
  Counts& sum = of.by_kernel[name];
  sum.launches += 1;
  sum.instructions += std::exchange(executed, 0) / 32;
  sum.shared_accesses += of.counts.shared_accesses;
  sum.wavefronts += of.counts.wavefronts;
  sum.global_bytes += of.counts.global_bytes;
  sum.sectors += of.counts.sectors;
  of.counts = {};
  // Written each time, because nobody says which launch is the last.
  std::ofstream table(std::getenv("CHE_PTX_COUNTS"));
  table << "kernel,launches,instructions,shared_accesses,wavefronts,global_bytes,sectors\n";
  for (const auto& [each, counts] : of.by_kernel) {
    table << fmt::format("\"{}\",{},{},{},{},{},{}\n", each, counts.launches, counts.instructions,
                         counts.shared_accesses, counts.wavefronts, counts.global_bytes, counts.sectors);
  }
}

void throw_misaligned(const unsigned char* at, int bytes, int place) {
  throw std::runtime_error(fmt::format("misaligned access: {} bytes at {}, statement {}", bytes,
                                       static_cast<const void*>(at), place));
}

}  // namespace che::ptx
