import torch
import triton
import triton.language as tl


@triton.jit
def fill_kernel(x, y, flag, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)
        while tl.atomic_cas(flag, 1, 1) != 1:
            pass
    else:
        tl.atomic_xchg(flag, 1)


def fills_then_waits(x, y):
    flag = torch.zeros(1, dtype=torch.int32, device=x.device)
    fill_kernel[(2,)](x, y, flag, x.numel(), BLOCK=64)

##################################################################################################################################################

def test_fills_then_waits():
    x, y = torch.randn(50, device="cuda"), torch.zeros(50, device="cuda")
    fills_then_waits(x, y)
    return {"one": y}


test_results = test_fills_then_waits()
