// im2col and cuBLAS: the windows of some images are written out, a column an output pixel, and multiplied by the filters. A
// hosted launch. As many images at a time as need at most 1 GiB; TF32 is off.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {

// columns[image][c, r, s][p, q] = x[image][c][p stride + r][q stride + s]
__global__ void im2col(const float* __restrict__ x, float* __restrict__ columns, int C, int H, int W, int R, int S, int P,
                       int Q, int stride) {
  const int k = static_cast<int>(blockIdx.x);
  const int s = k % S;
  const int r = k / S % R;
  const int c = k / S / R;
  x += ((static_cast<long long>(blockIdx.y) * C + c) * H + r) * W + s;
  columns += (static_cast<long long>(blockIdx.y) * C * R * S + k) * P * Q;
  for (int at = static_cast<int>(threadIdx.x); at < P * Q; at += 256) columns[at] = x[at / Q * stride * W + at % Q * stride];
}

}  // namespace

extern "C" int run(const float* x, const float* w, float* y, int64_t N, int64_t C, int64_t H, int64_t W, int64_t K,
                   int64_t R, int64_t S, int64_t P, int64_t Q, int64_t stride, cudaStream_t stream) {
  constexpr int64_t most = int64_t{1} << 30;
  static float* columns = nullptr;
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    if (cublasCreate(&made) != CUBLAS_STATUS_SUCCESS || cudaMalloc(&columns, most) != cudaSuccess) return cublasHandle_t{};
    cublasSetMathMode(made, CUBLAS_PEDANTIC_MATH);
    return made;
  }();
  if (handle == nullptr || cublasSetStream(handle, stream) != CUBLAS_STATUS_SUCCESS) return 1;
  const int64_t all_k = C * R * S;
  const int64_t pixels = P * Q;
  const int64_t images = std::max<int64_t>(1, most / (4 * all_k * pixels));
  const float one = 1;
  const float zero = 0;
  for (int64_t first = 0; first < N; first += images) {
    const int64_t count = std::min(images, N - first);
    im2col<<<dim3(static_cast<unsigned>(all_k), static_cast<unsigned>(count)), 256, 0, stream>>>(
        x + first * C * H * W, columns, static_cast<int>(C), static_cast<int>(H), static_cast<int>(W), static_cast<int>(R),
        static_cast<int>(S), static_cast<int>(P), static_cast<int>(Q), static_cast<int>(stride));
    // Row major: y[image] = w columns[image], which column-major cuBLAS sees as transpose(y) = transpose(columns) transpose(w).
    if (cudaGetLastError() != cudaSuccess ||
        cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(pixels), static_cast<int>(K),
                                  static_cast<int>(all_k), &one, columns, static_cast<int>(pixels), all_k * pixels, w,
                                  static_cast<int>(all_k), 0, &zero, y + first * K * pixels, static_cast<int>(pixels),
                                  K * pixels, static_cast<int>(count)) != CUBLAS_STATUS_SUCCESS) {
      return 2;
    }
  }
  return 0;
}
