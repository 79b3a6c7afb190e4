# verdict: valid
# because: Writes parts of sums to a workspace, and adds them in a second kernel.
import triton
import triton.language as tl

# kevo: workspace part float32 [M, 16]
# kevo: launch parts[M, 16](x, part, N, BLOCK=1024) warps 4
# kevo: launch sums[M](part, y)

@triton.jit
def parts(x, part, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, 16 * BLOCK):
        at = first + column
        total += tl.load(x + i.to(tl.int64) * n + at, mask=at < n, other=0.0)
    tl.store(part + i * 16 + tl.program_id(1), tl.sum(total, 0))


@triton.jit
def sums(part, y):
    i = tl.program_id(0)
    tl.store(y + i, tl.sum(tl.load(part + i * 16 + tl.arange(0, 16)), 0))
