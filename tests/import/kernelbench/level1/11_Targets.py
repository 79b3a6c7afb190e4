# In KernelBench's format; written for this test. No generator of a task makes its inputs: targets of -1 and 1, and rows that sum to 1.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, predictions, targets):
        return torch.mean(torch.clamp(1 - predictions.sum(dim=1) * targets, min=0)) + predictions.log().mean()


batch_size = 256
input_shape = (128,)


def get_inputs():
    scale = torch.rand(())
    return [(torch.rand(batch_size, *input_shape) * scale).softmax(dim=-1), torch.randint(0, 2, (batch_size,)).float() * 2 - 1]


def get_init_inputs():
    return []
