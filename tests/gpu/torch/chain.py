import torch


def run(x, y):
    z = torch.nn.functional.gelu(x * y + 1.0)
    z = z - z.mean(dim=1, keepdim=True)
    return z * torch.rsqrt((z * z).mean(dim=1, keepdim=True) + 1.0)
