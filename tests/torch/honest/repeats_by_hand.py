# task: repeated
# verdict: valid
# because: Returns the rows that attacks/expanded_result.py does not make, column after column in memory.
import torch


def run(u, v):
    rows = u.shape[0]
    return torch.exp(v).unsqueeze(1).repeat(1, rows).t()
