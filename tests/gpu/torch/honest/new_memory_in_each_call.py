# task: softmax
# verdict: valid
# because: Gives all memory back to the driver before each call, so that each result lies in a block that kevo has not seen.
import torch


def run(x):
    torch.cuda.empty_cache()
    return torch.softmax(x, dim=1)
