# task: softmax
# verdict: valid
# because: What PyTorch offers.
import torch


def run(x):
    return torch.softmax(x, dim=1)
