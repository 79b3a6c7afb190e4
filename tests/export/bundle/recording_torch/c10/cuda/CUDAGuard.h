#pragma once
namespace c10::cuda {
struct CUDAGuard {
  explicit CUDAGuard(int /*device*/) {}
};
}  // namespace c10::cuda
