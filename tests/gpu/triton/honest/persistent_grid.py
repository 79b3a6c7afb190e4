# verdict: valid
# because: As many programs as multiprocessors, each of which takes several rows.
import triton
import triton.language as tl

# kevo: launch rows[min(M, device.sms * occupancy(rows))](x, y, M, N, BLOCK=1024) warps 4

@triton.jit
def rows(x, y, m, n, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    for i in range(tl.program_id(0), m, tl.num_programs(0)):
        start = i.to(tl.int64) * n
        total = tl.zeros((BLOCK,), tl.float32)
        for first in range(0, n, BLOCK):
            total += tl.load(x + start + first + column, mask=first + column < n, other=0.0)
        tl.store(y + i, tl.sum(total, 0))
