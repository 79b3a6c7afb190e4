# task: workspace
# verdict: valid
# because: Clears 128 MB in each call, on the default stream, and adds to them. The twin of the programs that do so before a call begins.
import torch

space = []


def run(x):
    if not space:
        space.append(torch.empty(32 << 20, device=x.device))
    space[0].zero_()
    y = space[0][:x.numel()].view_as(x)
    return y.add_(torch.softmax(x, dim=1))
