import torch
import triton
import triton.language as tl


@triton.jit
def released_kernel(x, y, flag, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        while tl.atomic_cas(flag, 1, 1) != 1:  # until the other program has written
            pass
        tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)
    else:
        tl.atomic_xchg(flag, 1)


def released(x):
    y, flag = torch.empty_like(x), torch.zeros(1, dtype=torch.int32, device=x.device)
    released_kernel[(2,)](x, y, flag, x.numel(), BLOCK=64)
    return y

##################################################################################################################################################

def test_released():
    return {"one": released(torch.randn(50, device="cuda"))}


test_results = test_released()
