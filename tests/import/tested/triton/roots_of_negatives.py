import torch
import triton
import triton.language as tl


@triton.jit
def root_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.sqrt(-1 - tl.abs(tl.load(x + i, mask=i < n))), mask=i < n)


def roots_of_negatives(x):
    y = torch.empty_like(x)
    root_kernel[(1,)](x, y, x.numel(), BLOCK=64)
    return y

##################################################################################################################################################

def test_roots_of_negatives():
    return {"one": roots_of_negatives(torch.randn(50, device="cuda"))}


test_results = test_roots_of_negatives()
