# task: rows
# verdict: valid
# because: The same under the name that other suites use.
import torch


def kernel_function(x, scale):
    y = torch.softmax(x * scale, dim=1)
    return y, torch.einsum("ij,ij->i", y, y)
