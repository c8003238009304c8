// The device, its memory, and what the process tells at its end.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/gpu/host/stand_in.h"

namespace che::host {
namespace {

__attribute__((destructor)) void write_counts() {
  const char* const path = std::getenv("CHE_HOST_COUNTS");
  FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return;
  std::string line = "{\"errors\": [";
  for (const std::string& error : device().errors)
    line += (line.back() == '[' ? "\"" : ", \"") + error + "\"";
  line += "]";
  for (const auto& [name, count] : device().counts) line += ", \"" + name + "\": " + std::to_string(count);
  std::fputs((line + "}\n").c_str(), file);
  std::fclose(file);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream, bool waits) {
  CHE_LOCK;
  const bool to_device = lies_in(device().memory, to, bytes),
             from_device = lies_in(device().memory, from, bytes);
  if ((!to_device && lies_in(device().memory, to)) || (!from_device && lies_in(device().memory, from)))
    return refuse(cudaErrorInvalidValue, "a copy beyond a block");
  const bool is_pinned =
      (to_device || lies_in(device().pinned, to)) && (from_device || lies_in(device().pinned, from));
  if (waits)
    if (const cudaError_t error = wait("cudaMemcpy", capture_of(stream))) return error;
  if (Capture* const capture = capture_of(stream); capture != nullptr && !is_pinned)
    return refuse_in(capture, cudaErrorStreamCaptureUnsupported, "a copy of pageable memory");
  const char* const kind = to_device && from_device ? "copies on the device"
                           : is_pinned              ? "pinned copies"
                                                    : "pageable copies";
  if (!to_device) {
    if (from_device)
      std::memset(to, 0, bytes);
    else
      std::memmove(to, from, bytes);
  }
  return enqueue(stream, kind, kind);
}

// The device is in EXCLUSIVE_PROCESS mode: one process at a time has a context, which its first look at
// memory makes.
bool has_context() {
  static const bool has = [] {
    const char* const path = std::getenv("CHE_HOST_LOCK");
    return path == nullptr || flock(open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600), LOCK_EX | LOCK_NB) == 0;
  }();
  return has;
}

// For the driver's functions that LibTorch looks up and does not call here.
int uncalled_driver_function() { std::abort(); }

}  // namespace

// Errors and the device.
API const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "an error of the stand-in";
}
API const char* cudaGetErrorName(cudaError_t error) { return cudaGetErrorString(error); }
API cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
API cudaError_t cudaPeekAtLastError() { return last_error; }
API cudaError_t cudaGetDeviceCount(int* number) { return *number = 1, cudaSuccess; }
API cudaError_t cudaGetDevice(int* number) { return *number = 0, cudaSuccess; }
API cudaError_t cudaSetDevice(int number) {
  return number == 0 ? cudaSuccess : refuse(cudaErrorInvalidDevice, "cudaSetDevice");
}
API cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
API cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
API cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, cudaSuccess; }
API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, cudaSuccess;
}
API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  static const std::map<cudaDeviceAttr, int> values{
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, kSharedBytes},
      {cudaDevAttrMaxSharedMemoryPerBlock, kSharedBytesWithoutAsking},
      {cudaDevAttrMultiProcessorCount, kMultiprocessors},
      {cudaDevAttrComputeCapabilityMajor, kCapability / 10},
      {cudaDevAttrComputeCapabilityMinor, kCapability % 10},
      {cudaDevAttrMaxThreadsPerBlock, 1024},
      {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
      {cudaDevAttrMaxRegistersPerBlock, 65'536},
      {cudaDevAttrMaxGridDimX, 0x7fffffff},
      {cudaDevAttrMaxGridDimY, 0xffff},
      {cudaDevAttrMaxGridDimZ, 0xffff},
      {cudaDevAttrWarpSize, 32},
      {cudaDevAttrClockRate, 1'980'000},
      {cudaDevAttrMemoryClockRate, 2'619'000},
      {cudaDevAttrGlobalMemoryBusWidth, 5120}};
  const auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  return cudaSuccess;
}
API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int number) {
  if (number != 0) return refuse(cudaErrorInvalidDevice, "cudaGetDeviceProperties");
  *properties = {};
  std::strcpy(properties->name, "stand-in");
  properties->major = kCapability / 10;
  properties->minor = kCapability % 10;
  properties->multiProcessorCount = kMultiprocessors;
  properties->totalGlobalMem = kMemoryBytes;
  properties->sharedMemPerBlock = kSharedBytesWithoutAsking;
  properties->sharedMemPerBlockOptin = kSharedBytes;
  properties->sharedMemPerMultiprocessor = kSharedBytes + 1024;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65'536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 0x7fffffff;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 0xffff;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->l2CacheSize = 50 << 20;
  properties->unifiedAddressing = properties->canMapHostMemory = properties->concurrentKernels = 1;
  return cudaSuccess;
}
API int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return 0;
}
API int cuCtxGetCurrent(void** context) { return *context = &device(), 0; }
API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                 unsigned long long,
                                                 cudaDriverEntryPointQueryResult* result) {
  *function = std::strcmp(name, "cuDevicePrimaryCtxGetState") == 0
                  ? reinterpret_cast<void*>(cuDevicePrimaryCtxGetState)
                  : reinterpret_cast<void*>(uncalled_driver_function);
  if (result != nullptr) *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

// Memory.
API cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  CHE_LOCK;
  if (!has_context()) return refuse(cudaErrorDevicesUnavailable, "cudaMemGetInfo");
  *total = kMemoryBytes;
  *free = kMemoryBytes - device().used;
  return cudaSuccess;
}
API cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  CHE_LOCK;
  if (!has_context()) return refuse(cudaErrorDevicesUnavailable, "cudaMalloc");
  if (const cudaError_t error = unsafe_in_a_capture("cudaMalloc")) return error;
  if (device().used + bytes > kMemoryBytes) return last_error = cudaErrorMemoryAllocation;
  *pointer = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  device().memory[static_cast<char*>(*pointer)] = bytes;
  device().used += bytes;
  long& peak = device().counts["peak bytes"];
  peak = std::max(peak, static_cast<long>(device().used));
  return cudaSuccess;
}
API cudaError_t cudaFree(void* pointer) {
  CHE_LOCK;
  if (pointer == nullptr) return cudaSuccess;
  if (const cudaError_t error = unsafe_in_a_capture("cudaFree")) return error;
  const auto block = device().memory.find(static_cast<char*>(pointer));
  if (block == device().memory.end()) return refuse(cudaErrorInvalidValue, "cudaFree");
  munmap(pointer, block->second);
  device().used -= block->second;
  device().memory.erase(block);
  return cudaSuccess;
}
API cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  CHE_LOCK;
  if (const cudaError_t error = unsafe_in_a_capture("cudaHostAlloc")) return error;
  *pointer = std::calloc(1, bytes);
  device().pinned[static_cast<char*>(*pointer)] = bytes;
  return cudaSuccess;
}
API cudaError_t cudaFreeHost(void* pointer) {
  CHE_LOCK;
  if (const cudaError_t error = unsafe_in_a_capture("cudaFreeHost")) return error;
  device().pinned.erase(static_cast<char*>(pointer));
  std::free(pointer);
  return cudaSuccess;
}
API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  CHE_LOCK;
  *attributes = {};
  attributes->type = lies_in(device().memory, pointer)   ? cudaMemoryTypeDevice
                     : lies_in(device().pinned, pointer) ? cudaMemoryTypeHost
                                                         : cudaMemoryTypeUnregistered;
  attributes->device = attributes->type == cudaMemoryTypeUnregistered ? -1 : 0;
  if (attributes->type != cudaMemoryTypeUnregistered) attributes->devicePointer = const_cast<void*>(pointer);
  if (attributes->type == cudaMemoryTypeHost) attributes->hostPointer = const_cast<void*>(pointer);
  return cudaSuccess;
}
API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return copy(to, from, bytes, nullptr, true);
}
API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                cudaStream_t stream) {
  return copy(to, from, bytes, stream, false);
}
API cudaError_t cudaMemsetAsync(void* to, int, std::size_t bytes, cudaStream_t stream) {
  CHE_LOCK;
  if (!lies_in(device().memory, to, bytes)) return refuse(cudaErrorInvalidValue, "cudaMemsetAsync");
  return enqueue(stream, "fills", "cudaMemsetAsync");
}
API cudaError_t cudaGetSymbolAddress(void** pointer, const void*) { return cudaMalloc(pointer, 4096); }

}  // namespace che::host
