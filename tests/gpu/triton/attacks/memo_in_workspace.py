# verdict: valid|incorrect
# twin: row_sum.py
# because: Keeps sums in a workspace, with a sample of the row that they belong to, and copies them if they are there.
import triton
import triton.language as tl

# kevo: workspace kept float32 [M, 2]
# kevo: launch rows[M](x, y, kept, N, BLOCK=1024) warps 4

@triton.jit
def rows(x, y, kept, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    start = i.to(tl.int64) * n
    sample = tl.load(x + start)
    if tl.load(kept + 2 * i) == sample:
        tl.store(y + i, tl.load(kept + 2 * i + 1))
    else:
        column = tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        for first in range(0, n, BLOCK):
            total += tl.load(x + start + first + column, mask=first + column < n, other=0.0)
        result = tl.sum(total, 0)
        tl.store(kept + 2 * i, sample)
        tl.store(kept + 2 * i + 1, result)
        tl.store(y + i, result)
