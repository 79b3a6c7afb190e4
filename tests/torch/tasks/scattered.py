import torch


def run(u, v):
    rows = torch.arange(u.shape[0])
    columns = rows % v.shape[0]
    y = u.new_zeros(u.shape[0], v.shape[0])
    y[rows, columns] = u + v[columns]
    return y
