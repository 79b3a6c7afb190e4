# task: layer
# verdict: valid
# because: An extension in C++, built while the program is loaded.
# gpu: no, its extension reads memory of the CPU.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
torch::Tensor add_and_clip(torch::Tensor x, torch::Tensor bias) {
  TORCH_CHECK(x.is_contiguous() && bias.numel() == x.size(1), "a bias for each column");
  auto y = torch::empty_like(x);
  const float* from = x.data_ptr<float>();
  const float* add = bias.data_ptr<float>();
  float* to = y.data_ptr<float>();
  const int64_t rows = x.size(0), columns = x.size(1);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const float v = from[i * columns + j] + add[j];
      to[i * columns + j] = v > 0 ? v : 0;
    }
  return y;
}
"""
extension = load_inline(name="clipped", cpp_sources=source, functions=["add_and_clip"], extra_cflags=["-O3", "-march=native"], verbose=True)


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return extension.add_and_clip(torch.mm(x, self.linear.weight.t()), self.linear.bias)
