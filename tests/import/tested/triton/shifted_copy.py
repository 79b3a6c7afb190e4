import torch
import triton
import triton.language as tl


@triton.jit
def shift_kernel(x, y, n, shift, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i + shift.to(tl.int64) * 1048576, tl.load(x + i, mask=i < n), mask=i < n)


def shifted_copy(x, shift):
    y = torch.zeros_like(x)
    shift_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), shift, BLOCK=64)
    return y

##################################################################################################################################################

def test_shifted_copy():
    x = torch.randn(5, 30, device="cuda")
    return {"one": shifted_copy(x, 0), "two": shifted_copy(x, 1048576)}


test_results = test_shifted_copy()
