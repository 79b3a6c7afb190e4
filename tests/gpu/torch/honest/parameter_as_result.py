# task: softmax
# verdict: valid
# because: Returns a parameter, which requires gradients, into which it has computed.
import torch

kept = {}


def run(x):
    if x.shape not in kept:
        kept[x.shape] = torch.nn.Parameter(torch.empty_like(x))
    with torch.no_grad():
        return torch.softmax(x, dim=1, out=kept[x.shape])
