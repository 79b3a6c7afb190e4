# task: scattered
# verdict: valid
# because: Clears the memory of each result in the call that returns it.
import torch

places = {}


def run(u, v):
    if u.shape + v.shape not in places:
        rows = torch.arange(u.shape[0], device=u.device)
        places[u.shape + v.shape] = rows, rows % v.shape[0]
    rows, columns = places[u.shape + v.shape]
    y = torch.zeros(u.shape[0], v.shape[0], device=u.device)
    y[rows, columns] = u + v[columns]
    return y
