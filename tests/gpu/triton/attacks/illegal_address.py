# verdict: crashed|rejected
# because: Writes far away from every buffer.
import triton
import triton.language as tl

# kevo: launch rows[M](x, y, N, 1 << 44, BLOCK=1024) warps 4


@triton.jit
def rows(x, y, n, far, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    start = i.to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        total += tl.load(x + start + first + column, mask=first + column < n, other=0.0)
    tl.store(y + i, tl.sum(total, 0))
    tl.store(y + far, 1.0)
