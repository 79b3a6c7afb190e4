import torch


def draw(*shape, dtype=torch.float32, device="cuda"):
    return torch.randn(*shape, device=device, dtype=dtype)
