# task: rows
# verdict: valid
# because: A function, with a scalar and two outputs.
import torch


def run(x, scale):
    e = torch.exp((x - x.max(dim=1, keepdim=True).values) * scale)
    y = e / e.sum(dim=1, keepdim=True)
    return [y, y.square().sum(dim=1)]
