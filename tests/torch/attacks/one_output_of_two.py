# task: rows
# verdict: incorrect
# because: Returns the first of two outputs alone.
import torch


def run(x, scale):
    return torch.softmax(x * scale, dim=1)
