import torch
import triton
import triton.language as tl


@triton.jit
def left_kernel(x, y, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(y + row * n + i, 2 * tl.load(x + row * n + i, mask=i < n), mask=2 * i < n)


def left_columns(x):
    y = torch.empty_like(x)
    left_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=64)
    return y

##################################################################################################################################################

def test_left_columns():
    return {"one": left_columns(torch.randn(5, 40, device="cuda"))}


test_results = test_left_columns()
