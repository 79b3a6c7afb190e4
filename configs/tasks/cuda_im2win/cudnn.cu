// cuDNN's fastest float32 algorithm (CUDNN_FMA_MATH: no TF32), found by timing all of them at the first call of a size. A
// hosted launch; plans and scratch memory are kept from call to call.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace {

struct plan {
  cudnnTensorDescriptor_t x = nullptr;
  cudnnTensorDescriptor_t y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  void* scratch = nullptr;
  std::size_t bytes = 0;
};

bool make(cudnnHandle_t handle, const std::array<int, 10>& a, const float* x, const float* w, float* y, plan& made) {
  const auto [N, C, H, W, K, R, S, P, Q, stride] = a;
  const auto good = [](cudnnStatus_t status) { return status == CUDNN_STATUS_SUCCESS; };
  if (!good(cudnnCreateTensorDescriptor(&made.x)) || !good(cudnnCreateTensorDescriptor(&made.y)) ||
      !good(cudnnCreateFilterDescriptor(&made.w)) || !good(cudnnCreateConvolutionDescriptor(&made.convolution)) ||
      !good(cudnnSetTensor4dDescriptor(made.x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, C, H, W)) ||
      !good(cudnnSetTensor4dDescriptor(made.y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, K, P, Q)) ||
      !good(cudnnSetFilter4dDescriptor(made.w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, K, C, R, S)) ||
      !good(cudnnSetConvolution2dDescriptor(made.convolution, 0, 0, stride, stride, 1, 1, CUDNN_CROSS_CORRELATION,
                                            CUDNN_DATA_FLOAT)) ||
      !good(cudnnSetConvolutionMathType(made.convolution, CUDNN_FMA_MATH))) {
    return false;
  }
  std::size_t most = std::size_t{8} << 30U;  // or as much of it as the device has room for
  void* scratch = nullptr;
  while (cudaMalloc(&scratch, most) != cudaSuccess) {
    cudaGetLastError();
    if ((most /= 2) < 1U << 20U) return false;
  }
  std::array<cudnnConvolutionFwdAlgoPerf_t, CUDNN_CONVOLUTION_FWD_ALGO_COUNT> times{};
  int found = 0;
  const bool timed = good(cudnnFindConvolutionForwardAlgorithmEx(handle, made.x, x, made.w, w, made.convolution, made.y, y,
                                                                 static_cast<int>(times.size()), &found, times.data(),
                                                                 scratch, most));
  cudaFree(scratch);
  if (!timed) return false;
  for (int i = 0; i < found; ++i) {
    if (!good(times[i].status) || times[i].mathType != CUDNN_FMA_MATH) continue;
    made.algorithm = times[i].algo;
    made.bytes = times[i].memory;
    return made.bytes == 0 || cudaMalloc(&made.scratch, made.bytes) == cudaSuccess;
  }
  return false;
}

}  // namespace

extern "C" int run(const float* x, const float* w, float* y, int64_t N, int64_t C, int64_t H, int64_t W, int64_t K,
                   int64_t R, int64_t S, int64_t P, int64_t Q, int64_t stride, cudaStream_t stream) {
  static const cudnnHandle_t handle = [] {
    cudnnHandle_t made = nullptr;
    return cudnnCreate(&made) == CUDNN_STATUS_SUCCESS ? made : cudnnHandle_t{};
  }();
  static std::map<std::array<int, 10>, plan> plans;
  if (handle == nullptr || cudnnSetStream(handle, stream) != CUDNN_STATUS_SUCCESS) return 1;
  const std::array<int, 10> axes = {static_cast<int>(N), static_cast<int>(C), static_cast<int>(H), static_cast<int>(W),
                                    static_cast<int>(K), static_cast<int>(R), static_cast<int>(S), static_cast<int>(P),
                                    static_cast<int>(Q), static_cast<int>(stride)};
  auto at = plans.find(axes);
  if (at == plans.end()) {
    plan made;
    if (!make(handle, axes, x, w, y, made)) return 2;
    at = plans.emplace(axes, made).first;
  }
  const plan& p = at->second;
  const float one = 1;
  const float zero = 0;
  return cudnnConvolutionForward(handle, &one, p.x, x, p.w, w, p.convolution, p.algorithm, p.scratch, p.bytes, &zero, p.y,
                                 y) == CUDNN_STATUS_SUCCESS
             ? 0
             : 3;
}
