import torch
import triton
import triton.language as tl


@triton.jit
def masked_kernel(x, keep, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.load(keep + i, mask=i < n, other=0) > 0
    first = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, first, mask=kept and i < n)
    tl.store(y + i, -first, mask=i < n and (i % 5 == 4 or (EVEN and i % 2 == 0)))


def two_masks(x, keep):
    y = torch.zeros_like(x)
    masked_kernel[(triton.cdiv(x.numel(), 32),)](x, keep, y, x.numel(), BLOCK=32, EVEN=False)
    return y

##################################################################################################################################################

def test_two_masks():
    return {"one": two_masks(torch.randn(100, device="cuda"), torch.randint(0, 2, (100,), device="cuda"))}


test_results = test_two_masks()
