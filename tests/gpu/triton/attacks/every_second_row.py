# verdict: incorrect
# because: Leaves every second row as it is.
import triton
import triton.language as tl

# kevo: launch rows[ceildiv(M, 2)](x, y, N, BLOCK=1024) warps 4


@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    i = 2 * tl.program_id(0)
    start = i.to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        total += tl.load(x + start + first + column, mask=first + column < n, other=0.0)
    tl.store(y + i, tl.sum(total, 0))
