# exp(v) in each row.
import torch


def run(u, v):
    return torch.exp(v).repeat(u.shape[0], 1)
