# verdict: valid
# because: Reads whole tiles through a tensor descriptor where the rows allow one, which needs scratch memory.
import triton
import triton.language as tl

# kevo: when N % 4 == 0: launch tiles[ceildiv(M, 16)](x, y, M, N, BM=16, BN=128) warps 4
# kevo: when N % 4 != 0: launch rows[M](x, y, N, BLOCK=1024) warps 4

@triton.jit
def tiles(x, y, m, n, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    first = tl.program_id(0) * BM
    total = tl.zeros((BM,), tl.float32)
    for column in range(0, n, BN):
        total += tl.sum(d.load([first, column]), 1)
    row = first + tl.arange(0, BM)
    tl.store(y + row, total, mask=row < m)

@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    start = i.to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        total += tl.load(x + start + first + column, mask=first + column < n, other=0.0)
    tl.store(y + i, tl.sum(total, 0))
