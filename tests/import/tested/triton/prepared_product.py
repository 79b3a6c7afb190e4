import torch
import triton
import triton.language as tl


@triton.jit
def scaled_kernel(x, scale, y, COUNT: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, COUNT)
    tl.store(y + row * COUNT + i, tl.load(x + row * COUNT + i) * tl.load(scale + row))


def with_scale(x, scale):
    assert triton.runtime.driver.active.get_current_target().backend == "cuda"
    y = torch.empty_like(x)
    scaled_kernel[(x.shape[0],)](x, scale, y, COUNT=x.shape[1])
    return y, None


def prepared(x):
    return x / x.abs().amax(1, keepdim=True), x.abs().amax(1)

##################################################################################################################################################

def test_prepared_product():
    x, scale = prepared(torch.randn(6, 32, device="cuda"))
    return {"one": with_scale(x, scale)[0]}


test_results = test_prepared_product()
