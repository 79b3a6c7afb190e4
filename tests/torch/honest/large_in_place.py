# task: large
# verdict: valid
# because: The second step works in the memory of the first one's result.
import torch


def run(x):
    return torch.relu(x).mul_(0.5)
