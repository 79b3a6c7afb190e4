import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


def doubled_transpose(x):
    y = x.t().reshape(-1)  # a copy, except where one of the extents is 1
    double_kernel[(triton.cdiv(y.numel(), 64),)](y, y.numel(), BLOCK=64)
    return y

##################################################################################################################################################

def test_doubled_transpose():
    return {"one": doubled_transpose(torch.randn(4, 8, device="cuda"))}


test_results = test_doubled_transpose()
