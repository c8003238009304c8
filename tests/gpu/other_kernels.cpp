// A library of CUDA kernels and of CUDA graphs, both of another version.
extern "C" __attribute__((visibility("default"))) const void* che_cuda_library(int) { return nullptr; }
extern "C" __attribute__((visibility("default"))) const void* che_device_graphs(int) { return nullptr; }
