# task: repeated
# verdict: valid
# because: Returns one row with a stride of 0: all rows are the same memory. The values are right; the rows are
# made by whoever reads them, which counts as this program's time.
import torch


def run(u, v):
    return torch.exp(v).expand(u.shape[0], -1)
