# task: large
# verdict: valid
# because: Writes into a buffer that it keeps, step by step in place.
import torch

kept = {}


def run(x):
    out = kept.get(x.shape)
    if out is None:
        out = kept[x.shape] = torch.empty_like(x)
    torch.clamp_min(x, 0, out=out)
    return out.mul_(0.5)
