# Everything behind the matrix product by one kernel in CUDA, built by load_inline in the form of KernelBench's solutions.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

THREADS = 256  # kevo: {64, 128, 256, 512, 1024}
ELEMENTS = 1  # kevo: {1, 2, 4, 8}
# Makes more programs of it.
NUMBER = 0  # kevo: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

#define THREADS %d
#define ELEMENTS %d
#define NUMBER %d

__global__ void finish_kernel(const float* __restrict__ z, const float* __restrict__ x, const float* __restrict__ scale,
                              float* __restrict__ y, long n, int features) {
  const long first = (static_cast<long>(blockIdx.x) * ELEMENTS) * THREADS + threadIdx.x;
#pragma unroll
  for (int e = 0; e < ELEMENTS; ++e) {
    const long i = first + static_cast<long>(e) * THREADS;
    if (i >= n) return;
    const float v = z[i];
    y[i] = scale[i %% features] * (0.5f * v * (1.0f + erff(v * 0.70710678f))) + x[i];
  }
}

torch::Tensor finish(torch::Tensor z, torch::Tensor x, torch::Tensor scale) {
  auto y = torch::empty_like(z);
  const long n = z.numel();
  const long blocks = (n + THREADS * ELEMENTS - 1) / (THREADS * ELEMENTS);
  finish_kernel<<<blocks, THREADS>>>(z.data_ptr<float>(), x.data_ptr<float>(), scale.data_ptr<float>(), y.data_ptr<float>(), n,
                                     static_cast<int>(z.size(1)));
  return y;
}
""" % (THREADS, ELEMENTS, NUMBER)

extension = load_inline(name="finish", cpp_sources="torch::Tensor finish(torch::Tensor z, torch::Tensor x, torch::Tensor scale);",
                        cuda_sources=source, functions=["finish"], extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.scale = nn.Parameter(torch.rand(features))

    def forward(self, x):
        return extension.finish(self.linear(x), x, self.scale)
