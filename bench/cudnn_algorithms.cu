// The forward algorithms that cuDNN has for the twelve layers of configs/tasks/cuda_im2win, in float32
// without TF32: for each, its time and its scratch memory, which may be up to 8 GiB. The times are of CUDA
// events with a cold cache (median of 9 calls), not of kevo's clock; the baseline `cudnn` of the task uses
// the fastest of them.
//   nvcc -O2 -std=c++17 bench/cudnn_algorithms.cu -lcudnn -o cudnn_algorithms && ./cudnn_algorithms
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <cudnn.h>
#include <vector>

namespace {

struct layer {
  int number, images, channels, size, filters, filter_size, stride;
};
constexpr std::array<layer, 12> layers = {{{1, 128, 3, 227, 96, 11, 4},
                                           {2, 128, 3, 231, 96, 11, 4},
                                           {3, 128, 3, 227, 64, 7, 2},
                                           {4, 32, 64, 224, 64, 7, 2},
                                           {5, 128, 96, 24, 256, 5, 1},
                                           {6, 128, 256, 12, 512, 3, 1},
                                           {7, 128, 3, 224, 64, 3, 1},
                                           {8, 128, 64, 112, 128, 3, 1},
                                           {9, 128, 64, 56, 64, 3, 1},
                                           {10, 128, 128, 28, 128, 3, 1},
                                           {11, 128, 256, 14, 256, 3, 1},
                                           {12, 128, 512, 7, 512, 3, 1}}};
// In the order of cudnnConvolutionFwdAlgo_t. `direct` exists by name only: cuDNN refuses it.
constexpr std::array<const char*, 8> names = {
    "implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling",
    "winograd",      "winograd_nonfused"};
constexpr std::size_t most_scratch = std::size_t{8} << 30U;
constexpr std::size_t flushed = std::size_t{256} << 20U;

void need(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}
#define NEED(call) need((call) == decltype(call)(0), #call)

__global__ void fill(float* to, std::size_t count, unsigned seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761U + seed;
    bits = (bits ^ bits >> 16U) * 0x85ebca6bU;
    to[i] = static_cast<float>(bits ^ bits >> 13U) / 4294967296.0F - 0.5F;
  }
}

template <class T>
T* allocate(std::size_t bytes) {
  void* made = nullptr;
  NEED(cudaMalloc(&made, bytes));
  return static_cast<T*>(made);
}

float* filled(std::size_t count, unsigned seed) {
  auto* made = allocate<float>(count * sizeof(float));
  fill<<<1024, 256>>>(made, count, seed);
  return made;
}

/// Median time of calls in ms, each after other data were written over the cache; negative if a call fails.
template <class Call>
double time_of(const Call& call, char* flush) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  NEED(cudaEventCreate(&begin));
  NEED(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < 10; ++i) {
    NEED(cudaMemsetAsync(flush, i, flushed));
    NEED(cudaEventRecord(begin));
    if (!call()) return -1;
    NEED(cudaEventRecord(end));
    if (cudaDeviceSynchronize() != cudaSuccess) return -1;
    float ms = 0;
    NEED(cudaEventElapsedTime(&ms, begin, end));
    if (i > 0) times.push_back(ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::nth_element(times.begin(), times.begin() + 4, times.end());
  return times[4];
}

void print_layer(cudnnHandle_t handle, const layer& l, void* scratch, char* flush) {
  const int out = (l.size - l.filter_size) / l.stride + 1;
  cudnnTensorDescriptor_t x = nullptr;
  cudnnTensorDescriptor_t y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  NEED(cudnnCreateTensorDescriptor(&x));
  NEED(cudnnCreateTensorDescriptor(&y));
  NEED(cudnnCreateFilterDescriptor(&w));
  NEED(cudnnCreateConvolutionDescriptor(&convolution));
  NEED(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, l.images, l.channels, l.size,
                                  l.size));
  NEED(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, l.images, l.filters, out, out));
  NEED(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, l.filters, l.channels,
                                  l.filter_size, l.filter_size));
  NEED(cudnnSetConvolution2dDescriptor(convolution, 0, 0, l.stride, l.stride, 1, 1, CUDNN_CROSS_CORRELATION,
                                       CUDNN_DATA_FLOAT));
  NEED(cudnnSetConvolutionMathType(convolution, CUDNN_FMA_MATH));
  float* images = filled(static_cast<std::size_t>(l.images) * l.channels * l.size * l.size, 1);
  float* filters =
      filled(static_cast<std::size_t>(l.filters) * l.channels * l.filter_size * l.filter_size, 2);
  auto* results = allocate<float>(static_cast<std::size_t>(l.images) * l.filters * out * out * sizeof(float));
  const float one = 1;
  const float zero = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto algorithm = static_cast<cudnnConvolutionFwdAlgo_t>(i);
    std::size_t bytes = 0;
    if (cudnnGetConvolutionForwardWorkspaceSize(handle, x, w, convolution, y, algorithm, &bytes) !=
        CUDNN_STATUS_SUCCESS) {
      std::printf("%d %s not supported\n", l.number, names[i]);
      continue;
    }
    if (bytes > most_scratch) {
      std::printf("%d %s needs %.0f MB\n", l.number, names[i], 1e-6 * static_cast<double>(bytes));
      continue;
    }
    const auto call = [&] {
      return cudnnConvolutionForward(handle, &one, x, images, w, filters, convolution, algorithm, scratch,
                                     bytes, &zero, y, results) == CUDNN_STATUS_SUCCESS;
    };
    const double ms = time_of(call, flush);
    if (ms < 0) {
      std::printf("%d %s fails\n", l.number, names[i]);
    } else {
      std::printf("%d %s %.4f ms, %.1f MB\n", l.number, names[i], ms, 1e-6 * static_cast<double>(bytes));
    }
  }
  cudaFree(images);
  cudaFree(filters);
  cudaFree(results);
  cudnnDestroyTensorDescriptor(x);
  cudnnDestroyTensorDescriptor(y);
  cudnnDestroyFilterDescriptor(w);
  cudnnDestroyConvolutionDescriptor(convolution);
}

}  // namespace

int main() {
  cudnnHandle_t handle = nullptr;
  NEED(cudnnCreate(&handle));
  auto* scratch = allocate<char>(most_scratch);
  auto* flush = allocate<char>(flushed);
  for (const auto& one : layers) print_layer(handle, one, scratch, flush);
}
