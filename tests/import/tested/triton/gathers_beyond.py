import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(x, index, y, COUNT: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, COUNT)
    tl.store(y + row * COUNT + i, tl.load(x + tl.load(index + row) * COUNT + i))


def gathers_beyond(x, index, y):
    gather_kernel[(y.shape[0],)](x, index, y, COUNT=x.shape[1])

##################################################################################################################################################

def test_gathers_beyond():
    x, other = torch.randn(4, 32, device="cuda"), torch.randn(1 << 20, device="cuda")
    index = torch.randint(0, 4000, (8,), dtype=torch.int32, device="cuda")
    y = torch.zeros(8, 32, device="cuda")
    gathers_beyond(x, index, y)
    return {"one": y, "other": other}


test_results = test_gathers_beyond()
