// A stand-in for CUDA's runtime and for cuBLAS, on which LibTorch's CUDA part runs without a GPU: see
// host.py.
//
// Device memory is reserved addresses, which the host must not touch. Kernels do nothing, copies to the host
// bring zeros. Every launch is checked as CUDA does before it starts a kernel, and captures follow the rules
// of CUDA's documentation. At its end a process appends a line of JSON to the file $CHE_HOST_COUNTS: what it
// did, and every error that a function returned.
#pragma once

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// What the libraries of the same names declare.
#define API extern "C" __attribute__((visibility("default")))

namespace che::host {

// As an H100 has them.
constexpr int kCapability = 90;
constexpr int kMultiprocessors = 132;
constexpr int kSharedBytes = 227 * 1024;
constexpr int kSharedBytesWithoutAsking = 48 * 1024;
constexpr std::size_t kMemoryBytes = std::size_t{80} << 30U;

struct Stream;
struct Capture {
  cudaStreamCaptureMode mode;
  pid_t thread;
  const Stream* origin;
  unsigned long long number;
  std::size_t nodes = 0;
  bool is_invalid = false;
};
struct Stream {
  bool waits_for_default = true;
  unsigned long long capture = 0;  // The number of the last one that it was in; 0 for none.
};
struct Event {
  unsigned long long capture = 0;  // The number of the one that it was recorded in; 0 for none.
  bool is_recorded = false;
};

// Everything that the process' threads share.
struct Device {
  std::recursive_mutex mutex;
  std::map<const char*, std::size_t> memory, pinned;
  std::size_t used = 0;
  std::map<const void*, std::string> kernels;
  std::map<const void*, int> shared_bytes;  // What a kernel was allowed.
  Stream default_stream;
  std::vector<Capture*> captures;
  unsigned long long begun_captures = 0;
  std::map<std::string, long> counts;
  std::vector<std::string> errors;
};

inline Device& device() {
  static Device* const the = new Device;  // Never destroyed: other static objects give back what they have.
  return *the;
}

inline thread_local cudaError_t last_error = cudaSuccess;
inline thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// Every function that looks at what threads share begins so.
#define CHE_LOCK const std::lock_guard lock(device().mutex)

inline cudaError_t refuse(cudaError_t error, const std::string& what) {
  CHE_LOCK;
  device().errors.push_back(what + ": error " + std::to_string(error));
  return last_error = error;
}

inline void count(const char* what) { ++device().counts[what]; }

inline Stream& stream_of(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return device().default_stream;
  return *reinterpret_cast<Stream*>(stream);
}

// The capture that is going on and has this number; null for none.
inline Capture* capture_number(unsigned long long number) {
  const auto found =
      std::ranges::find(device().captures, number, [](const Capture* one) { return one->number; });
  return found == device().captures.end() ? nullptr : *found;
}

inline Capture* capture_of(cudaStream_t stream) { return capture_number(stream_of(stream).capture); }

// Returns the error, and makes the capture invalid, if there is one.
inline cudaError_t refuse_in(Capture* capture, cudaError_t error, const std::string& what) {
  if (capture != nullptr) capture->is_invalid = true;
  return refuse(error, what);
}

// For what a thread must not do while a capture goes on, by cudaThreadExchangeStreamCaptureMode's
// documentation.
inline cudaError_t unsafe_in_a_capture(const char* what) {
  if (thread_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  for (Capture* const one : device().captures) {
    const bool is_mine = one->thread == gettid();
    if (one->mode == cudaStreamCaptureModeRelaxed) continue;
    if (is_mine || (thread_mode == cudaStreamCaptureModeGlobal && one->mode == cudaStreamCaptureModeGlobal))
      return refuse_in(one, cudaErrorStreamCaptureUnsupported, what);
  }
  return cudaSuccess;
}

// The host waits for the stream or the whole device.
inline cudaError_t wait(const char* what, Capture* capture) {
  count("waits");
  if (capture != nullptr) return refuse_in(capture, cudaErrorStreamCaptureUnsupported, what);
  return unsafe_in_a_capture(what);
}

// Work in a stream, which a capture takes.
inline cudaError_t enqueue(cudaStream_t stream, const char* counted, const std::string& what) {
  Stream& in = stream_of(stream);
  if (&in == &device().default_stream) {
    for (Capture* const one : device().captures) {
      if (one->origin->waits_for_default && one->mode != cudaStreamCaptureModeRelaxed)
        return refuse_in(one, cudaErrorStreamCaptureImplicit, what);
    }
  }
  if (Capture* const capture = capture_of(stream)) {
    ++capture->nodes;
  } else {
    count(counted);
  }
  return cudaSuccess;
}

inline bool lies_in(const std::map<const char*, std::size_t>& blocks, const void* pointer,
                    std::size_t bytes = 1) {
  const auto* const begin = static_cast<const char*>(pointer);
  auto block = blocks.upper_bound(begin);
  return block != blocks.begin() && begin + bytes <= std::prev(block)->first + std::prev(block)->second;
}

}  // namespace che::host
