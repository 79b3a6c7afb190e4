# task: softmax
# verdict: valid
# because: Decides by an element of its input, so that it cannot be launched before its input is there.
import torch


def run(x):
    y = torch.softmax(x, dim=1)
    return y if float(y[0, 0]) >= 0 else -y
