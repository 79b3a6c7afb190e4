# task: softmax
# verdict: rejected
# because: Works in place.
import torch


def run(x):
    torch.softmax(x, dim=1, out=x)
    return x
