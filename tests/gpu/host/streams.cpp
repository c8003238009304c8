// Streams, events, captures, kernels, and cuBLAS, whose products are launches.
#include <utility>

#include "tests/gpu/host/stand_in.h"

namespace che::host {
namespace {

cudaError_t launch(const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
  CHE_LOCK;
  const auto name = device().kernels.find(kernel);
  if (name == device().kernels.end())
    return refuse(cudaErrorInvalidDeviceFunction, "launch of an unknown kernel");
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > 1024 || block.z > 64 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
      grid.x > 0x7fffffffU || grid.y > 0xffffU || grid.z > 0xffffU)
    return refuse(cudaErrorInvalidConfiguration, "grid or block of " + name->second);
  if (shared_bytes >
      static_cast<std::size_t>(std::max(device().shared_bytes[kernel], kSharedBytesWithoutAsking)))
    return refuse(cudaErrorInvalidValue, "shared memory of " + name->second);
  return enqueue(stream, "launches", name->second);
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

struct Blas {
  cudaStream_t stream = nullptr;
  int math = 0, mode = 0;
};
Blas& blas(void* handle) { return *static_cast<Blas*>(handle); }

}  // namespace

// Streams and events.
API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  *stream =
      reinterpret_cast<cudaStream_t>(new Stream{.waits_for_default = (flags & cudaStreamNonBlocking) == 0});
  return cudaSuccess;
}
API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  CHE_LOCK;
  Capture* const capture = capture_of(stream);
  return capture == nullptr ? cudaSuccess
                            : refuse_in(capture, cudaErrorStreamCaptureUnsupported, "cudaStreamQuery");
}
API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  CHE_LOCK;
  return wait("cudaStreamSynchronize", capture_of(stream));
}
API cudaError_t cudaDeviceSynchronize() {
  CHE_LOCK;
  return wait("cudaDeviceSynchronize", device().captures.empty() ? nullptr : device().captures.front());
}
API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return delete reinterpret_cast<Event*>(event), cudaSuccess;
}
API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  CHE_LOCK;
  const Capture* const capture = capture_of(stream);
  *reinterpret_cast<Event*>(event) = {.capture = capture == nullptr ? 0 : capture->number,
                                      .is_recorded = true};
  return cudaSuccess;
}
API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
API cudaError_t cudaEventQuery(cudaEvent_t event) {
  CHE_LOCK;
  Capture* const capture = capture_number(reinterpret_cast<Event*>(event)->capture);
  if (capture != nullptr) return refuse_in(capture, cudaErrorCapturedEvent, "cudaEventQuery");
  return unsafe_in_a_capture("cudaEventQuery");
}
API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  CHE_LOCK;
  return wait("cudaEventSynchronize", capture_number(reinterpret_cast<Event*>(event)->capture));
}
API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  CHE_LOCK;
  Stream& in = stream_of(stream);
  const Event& for_it = *reinterpret_cast<Event*>(event);
  Capture* const capture = capture_number(for_it.capture);
  Capture* const mine = capture_of(stream);
  if (capture != nullptr && mine == nullptr) {
    if (&in == &device().default_stream)
      return refuse_in(capture, cudaErrorStreamCaptureImplicit, "the default stream waits for a capture");
    in.capture = capture->number;  // It joins.
  } else if (capture == nullptr && mine != nullptr && for_it.is_recorded) {
    return refuse_in(mine, cudaErrorStreamCaptureIsolation, "a capture waits for work outside");
  }
  return cudaSuccess;
}

// Captures and graphs. A graph is its capture.
API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return std::swap(*mode, thread_mode), cudaSuccess;
}
API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  CHE_LOCK;
  Stream& in = stream_of(stream);
  if (&in == &device().default_stream || capture_of(stream) != nullptr)
    return refuse(cudaErrorStreamCaptureUnsupported, "cudaStreamBeginCapture");
  in.capture = ++device().begun_captures;
  device().captures.push_back(
      new Capture{.mode = mode, .thread = gettid(), .origin = &in, .number = in.capture});
  return cudaSuccess;
}
API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  CHE_LOCK;
  Capture* const capture = capture_of(stream);
  if (capture == nullptr) return refuse(cudaErrorIllegalState, "cudaStreamEndCapture");
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != gettid())
    return refuse(cudaErrorStreamCaptureWrongThread, "cudaStreamEndCapture");
  std::erase(device().captures, capture);
  if (capture->is_invalid) return refuse(cudaErrorStreamCaptureInvalidated, "cudaStreamEndCapture");
  count("captures");
  *graph = reinterpret_cast<cudaGraph_t>(capture);
  return cudaSuccess;
}
API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                         unsigned long long* number, cudaGraph_t* graph,
                                         const cudaGraphNode_t**, const cudaGraphEdgeData**, std::size_t*) {
  CHE_LOCK;
  Capture* const capture = capture_of(stream);
  *status = capture == nullptr    ? cudaStreamCaptureStatusNone
            : capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                  : cudaStreamCaptureStatusActive;
  if (capture != nullptr && number != nullptr) *number = capture->number;
  if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(capture);
  return cudaSuccess;
}
API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}
API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* nodes) {
  return *nodes = reinterpret_cast<Capture*>(graph)->nodes, cudaSuccess;
}
API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                              unsigned long long) {
  return *executable = reinterpret_cast<cudaGraphExec_t>(graph), cudaSuccess;
}
API cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t stream) {
  CHE_LOCK;
  return enqueue(stream, "graphs", "a graph");
}
API cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }

// Kernels.
API void** __cudaRegisterFatBinary(void* binary) { return static_cast<void**>(binary); }
API void __cudaRegisterFatBinaryEnd(void**) {}
API void __cudaUnregisterFatBinary(void**) {}
API char __cudaInitModule(void**) { return 1; }
API void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, uint3*, uint3*,
                                dim3*, dim3*, int*) {
  CHE_LOCK;
  device().kernels[function] = name;
}
API void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
API void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int) {}
API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                         cudaStream_t stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}
API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}
API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function)), cudaSuccess;
}
API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void**,
                                   std::size_t shared_bytes, cudaStream_t stream) {
  return launch(kernel, grid, block, shared_bytes, stream);
}
API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void**,
                                 std::size_t shared_bytes, cudaStream_t stream) {
  return launch(function, grid, block, shared_bytes, stream);
}
API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* of, const void* function, void**) {
  return launch(function, of->gridDim, of->blockDim, of->dynamicSmemBytes, of->stream);
}
API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  CHE_LOCK;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value > kSharedBytes) return refuse(cudaErrorInvalidValue, "cudaFuncSetAttribute");
  device().shared_bytes[function] = value;
  return cudaSuccess;
}
API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->binaryVersion = attributes->ptxVersion = kCapability;
  return cudaSuccess;
}
API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int threads,
                                                                       std::size_t, unsigned) {
  return *blocks = std::max(1, 1024 / std::max(1, threads)), cudaSuccess;
}
API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                              std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared_bytes, 0);
}

// cuBLAS.
API int cublasCreate_v2(void** handle) { return *handle = new Blas, 0; }
API int cublasDestroy_v2(void* handle) { return delete &blas(handle), 0; }
API int cublasSetStream_v2(void* handle, cudaStream_t stream) { return blas(handle).stream = stream, 0; }
API int cublasSetWorkspace_v2(void*, void*, std::size_t) { return 0; }
API int cublasSetMathMode(void* handle, int math) { return blas(handle).math = math, 0; }
API int cublasGetMathMode(void* handle, int* math) { return *math = blas(handle).math, 0; }
API int cublasSetPointerMode_v2(void* handle, int mode) { return blas(handle).mode = mode, 0; }
API int cublasGetPointerMode_v2(void* handle, int* mode) { return *mode = blas(handle).mode, 0; }
// The products' other parameters are not looked at.
#define CHE_PRODUCT(name)                                   \
  API int name(void* handle) {                              \
    CHE_LOCK;                                               \
    return enqueue(blas(handle).stream, "launches", #name); \
  }
CHE_PRODUCT(cublasSgemm_v2)
CHE_PRODUCT(cublasDgemm_v2)
CHE_PRODUCT(cublasSgemv_v2)
CHE_PRODUCT(cublasSgemmStridedBatched)
CHE_PRODUCT(cublasGemmEx)
CHE_PRODUCT(cublasGemmStridedBatchedEx)

}  // namespace che::host
