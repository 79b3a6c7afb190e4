import torch
import triton
import triton.language as tl


@triton.jit
def half_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) / 2, mask=i < n)


def in_float32_only(x):
    assert x.element_size() == 4
    y = torch.empty_like(x)
    half_kernel[(1,)](x, y, x.numel(), BLOCK=64)
    return y

##################################################################################################################################################

def test_in_float32_only():
    return {"one": in_float32_only(torch.randn(50, device="cuda"))}


test_results = test_in_float32_only()
