// A small part of the CUDA runtime for hosted programs, on the test double of the driver. Kernels are functions of the host,
// called once for every thread, one after the other: no barriers, no atomics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <tuple>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)

using cudaError_t = int;
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned long long a = 1, unsigned b = 1, unsigned c = 1) : x(static_cast<unsigned>(a)), y(b), z(c) {}
};
inline thread_local dim3 blockIdx, threadIdx, blockDim, gridDim;

namespace kevo_fake {

template <class Function>
Function* driver(const char* name) {
  static void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function*>(library == nullptr ? nullptr : ::dlsym(library, name));
}
inline void enqueue(cudaStream_t on, void (*work)(void*), void* data, double ns) {
  driver<void(void*, void (*)(void*), void*, double)>("fake_enqueue")(on, work, data, ns);
}

template <class Function>
void enqueue(cudaStream_t on, double ns, Function work) {
  enqueue(
      on,
      [](void* data) {
        auto* kept = static_cast<Function*>(data);
        (*kept)();
        delete kept;
      },
      new Function(std::move(work)), ns);
}

template <class... Parameters>
struct launcher {
  double ns;
  void (*kernel)(Parameters...);
  dim3 grid, block;
  cudaStream_t stream;
  void operator()(Parameters... arguments) const {
    enqueue(stream, ns, [how = *this, values = std::make_tuple(arguments...)] {
      gridDim = how.grid;
      blockDim = how.block;
      for (unsigned b = 0; b < how.grid.x; ++b) {
        for (unsigned t = 0; t < how.block.x; ++t) {
          blockIdx = dim3(b);
          threadIdx = dim3(t);
          std::apply(how.kernel, values);
        }
      }
    });
  }
};
template <class... Parameters>
launcher<Parameters...> launch(double ns, void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t = 0,
                               cudaStream_t stream = nullptr) {
  return {ns, kernel, grid, block, stream};
}

}  // namespace kevo_fake

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* made, unsigned) {
  *made = static_cast<cudaStream_t>(kevo_fake::driver<void*()>("fake_stream")());
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t on) {
  kevo_fake::driver<void(void*)>("fake_finish")(on);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
  kevo_fake::driver<void()>("fake_finish_all")();
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* made, unsigned) {
  return kevo_fake::driver<int(cudaEvent_t*, unsigned)>("cuEventCreate")(made, 0);
}
inline cudaError_t cudaEventRecord(cudaEvent_t one, cudaStream_t on) {
  return kevo_fake::driver<int(cudaEvent_t, cudaStream_t)>("cuEventRecord")(one, on);
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t one, unsigned = 0) {
  kevo_fake::driver<void(void*)>("fake_finish_event")(one);
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** made, std::size_t bytes) {
  return (*made = std::calloc(1, bytes)) != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
template <class T>
cudaError_t cudaMalloc(T** made, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(made), bytes);
}
inline cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t on) {
  kevo_fake::enqueue(on, 1000, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t on) {
  kevo_fake::enqueue(on, 1000, [=] { std::memset(to, byte, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
