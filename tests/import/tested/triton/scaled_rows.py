import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, weight, y, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(y + row * n + i, tl.load(x + row * n + i, mask=i < n) * tl.load(weight + i, mask=i < n), mask=i < n)


class ScaledRows(torch.nn.Module):
    def __init__(self, weight, block=64):
        super().__init__()
        self.weight, self.block = weight, block

    def forward(self, x):
        y = torch.empty_like(x)
        scale_kernel[(x.shape[0],)](x, self.weight, y, x.shape[1], BLOCK=self.block)
        return y

##################################################################################################################################################

def test_scaled_rows():
    x, weight = torch.randn(6, 30, device="cuda"), torch.randn(30, device="cuda")
    return {"one": ScaledRows(weight).cuda()(x), "two": ScaledRows(weight, block=32)(x)}


test_results = test_scaled_rows()
