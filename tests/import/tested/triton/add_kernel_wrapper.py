import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({}, num_warps=4), triton.Config({}, num_warps=8)], key=["n"])
@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def add(x, y, block=64):
    assert x.is_cuda
    z = torch.empty_like(x)
    with torch.cuda.device(x.device):
        add_kernel[(triton.cdiv(x.numel(), block),)](x, y, z, x.numel(), BLOCK=block)
    return z

##################################################################################################################################################

def test_add():
    x, y = torch.randn(300, device="cuda"), torch.randn(300, device="cuda")
    results = {"one": add(x, y), "two": add(x, y, block=128)}
    assert torch.allclose(results["one"], x + y)
    return results


test_results = test_add()
