import torch
import triton
import triton.language as tl
from triton.ops.matmul_perf_model import early_config_prune, estimate_matmul_time


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 32})], key=["n"],
                 prune_configs_by={"early_config_prune": early_config_prune, "perf_model": estimate_matmul_time, "top_k": 1})
@triton.jit
def three_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 3 * tl.load(x + i, mask=i < n), mask=i < n)


def defined_again(x):
    y = torch.empty_like(x)
    three_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y

##################################################################################################################################################

import torch
import triton
import triton.language as tl


@triton.jit
def three_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 3 * tl.load(x + i, mask=i < n), mask=i < n)


def defined_again(x):
    y = torch.empty_like(x)
    three_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel(), BLOCK=64)
    return y


def test_defined_again():
    return {"one": defined_again(torch.randn(100, device="cuda"))}


test_results = test_defined_again()
