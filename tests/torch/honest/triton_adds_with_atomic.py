# task: total
# verdict: valid
# because: The programs of its kernel add up by an atomic operation, in whatever order they are executed.
import torch
import triton
import triton.language as tl


@triton.jit
def add_up(z, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sum = tl.sum(tl.load(z + i, mask=i < n, other=0.0), 0) / n
    tl.atomic_add(y, sum)


def run(x):
    z = x
    for _ in range(16):
        z = torch.sin(z) + torch.cos(z * 0.5)
    y = torch.zeros(1)
    add_up[(triton.cdiv(z.numel(), 4096),)](z, y, z.numel(), BLOCK=4096)
    return y
