# verdict: incorrect|rejected|crashed
# because: Has no mask, and is right where 1024 divides the length of a row.
import triton
import triton.language as tl

# kevo: launch rows[M](x, y, N, BLOCK=1024) warps 4


@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    start = i.to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        total += tl.load(x + start + first + column)
    tl.store(y + i, tl.sum(total, 0))
