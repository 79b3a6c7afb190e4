import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x, y, COUNT: tl.constexpr):
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + tl.program_id(0) * COUNT + tl.arange(0, COUNT)), 0))


def sums_beyond(x):
    y = torch.empty(1, device=x.device)
    sum_kernel[(1,)](x, y, COUNT=65536)
    return y

##################################################################################################################################################

def test_sums_beyond():
    return {"one": sums_beyond(torch.randn(100, device="cuda"))}


test_results = test_sums_beyond()
