# task: softmax
# verdict: valid
# because: Returns a view whose rows are the columns of what it has computed.
import torch


def run(x):
    return torch.softmax(x.t().contiguous(), dim=0).t()
