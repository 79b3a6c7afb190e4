# task: softmax
# verdict: valid
# because: Has two pieces of memory for its result, and uses them in turn.
import torch

kept, turn = {}, 0


def run(x):
    global turn
    turn = 1 - turn
    if (x.shape, turn) not in kept:
        kept[x.shape, turn] = torch.empty_like(x)
    return torch.softmax(x, dim=1, out=kept[x.shape, turn])
