import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(x, y, COUNT: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, COUNT)
    tl.store(y + row * COUNT + i, tl.load(x + row * COUNT + i) + 1)


def many_programs(x):
    y = torch.empty_like(x)
    row_kernel[(x.shape[0],)](x, y, COUNT=x.shape[1])
    return y

##################################################################################################################################################

def test_many_programs():
    return {"one": many_programs(torch.randn(32768, 8, device="cuda"))}


test_results = test_many_programs()
