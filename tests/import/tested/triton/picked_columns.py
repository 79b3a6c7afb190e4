import torch
import triton
import triton.language as tl


@triton.jit
def pick_kernel(x, index, y, n):
    row = tl.program_id(0)
    column = tl.load(index + row)
    tl.store(y + row, tl.load(x + row * n + column, mask=column < n, other=0.0))


def picked_columns(x, index):
    y = torch.empty_like(x[:, 0])
    pick_kernel[(x.shape[0],)](x, index, y, x.shape[1])
    return y

##################################################################################################################################################

def test_picked_columns():
    return {"one": picked_columns(torch.randn(8, 20, device="cuda"), torch.randint(0, 20, (8,), device="cuda"))}


test_results = test_picked_columns()
