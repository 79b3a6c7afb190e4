import torch
import triton
import triton.language as tl


@triton.jit
def thrice_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, 3 * tl.load(x + i, mask=i < n), mask=i < n)


class _Thrice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        thrice_kernel[(1,)](x, y, x.numel(), BLOCK=64)
        return y


times_three = _Thrice.apply

##################################################################################################################################################

def test_thrice():
    return {"one": times_three(torch.randn(50, device="cuda"))}


test_results = test_thrice()
