# task: large
# verdict: valid
# because: The usual solution, with tensors of megabytes.
import torch


def run(x):
    return torch.relu(x) * 0.5
