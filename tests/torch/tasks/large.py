import torch


def run(x):
    return torch.relu(x) * 0.5
