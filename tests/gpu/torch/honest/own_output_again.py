# task: softmax
# verdict: valid
# because: Writes all of its result into memory that it keeps, in every call.
import torch

kept = {}


def run(x):
    if x.shape not in kept:
        kept[x.shape] = torch.empty_like(x)
    return torch.softmax(x, dim=1, out=kept[x.shape])
