# Root-mean-square normalization of every row.
import torch


def run(x, weight):
    return torch.nn.functional.rms_norm(x, (x.shape[1],), weight, 1e-6)
