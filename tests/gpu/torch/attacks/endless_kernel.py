# task: softmax
# verdict: timed_out
# because: Keeps the device busy for ever.
import torch


def run(x):
    torch.cuda._sleep(10**14)
    return torch.softmax(x, dim=1)
