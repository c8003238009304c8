// A library of CUDA kernels of another version.
extern "C" __attribute__((visibility("default"))) const void* che_cuda_kernels(int) { return nullptr; }
