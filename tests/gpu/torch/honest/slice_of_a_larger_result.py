# task: softmax
# verdict: valid
# because: Returns the first columns of a wider matrix.
import torch


def run(x):
    y = torch.empty(x.shape[0], x.shape[1] + 64, device=x.device)
    torch.softmax(x, dim=1, out=y[:, : x.shape[1]])
    return y[:, : x.shape[1]]
