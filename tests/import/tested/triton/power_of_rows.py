import torch
import triton
import triton.language as tl
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
from triton.language.extra.cuda.libdevice import pow as _pow
from triton.language.extra import libdevice

empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda


@triton.jit
def raised(exponent, x):
    return _pow(x, exponent.to(tl.float32))


@triton.jit
def power_kernel(exponent, x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, libdevice.tanh(raised(exponent, tl.load(x + i, mask=i < n, other=1.0))), mask=i < n)


def power_of_rows(x, exponent):
    get_raw_stream(0)
    y = empty_strided_cuda(x.shape, x.stride(), torch.float32)
    power_kernel[(triton.cdiv(x.numel(), 64),)](exponent, x, y, x.numel(), BLOCK=64)
    return y

##################################################################################################################################################

def test_power_of_rows():
    x = torch.rand(6, 40, device="cuda")
    return {"one": power_of_rows(x, 2.5), "two": power_of_rows(x, 0.5)}


test_results = test_power_of_rows()
