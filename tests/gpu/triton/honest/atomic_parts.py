# verdict: valid
# because: Several programs for each row, which add to a cleared output.
import triton
import triton.language as tl

# kevo: memset y 0
# kevo: launch rows[M, ceildiv(N, 2048)](x, y, N, BLOCK=2048) warps 4

@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i.to(tl.int64) * n + column, mask=column < n, other=0.0)
    tl.atomic_add(y + i, tl.sum(value, 0))
