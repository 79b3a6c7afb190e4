# A tunable root-mean-square normalization in Triton. A row that fits into one block of values is read once and
# kept in registers; a longer one is read twice.
import triton
import triton.language as tl

BLOCK = 16384  # kevo: {512, 1024, 2048, 4096, 8192, 16384}
WARPS = 16  # kevo: {1, 2, 4, 8, 16}
LONG_BLOCK = 4096  # kevo: {512, 1024, 2048, 4096}
STAGES = 3  # kevo: {1, 2, 3, 4}
# kevo: when N <= BLOCK: launch normalize_row[M](x, weight, y, N, BLOCK=BLOCK) warps WARPS
# kevo: when N > BLOCK: launch normalize_long_row[M](x, weight, y, N, BLOCK=LONG_BLOCK) warps WARPS stages STAGES


@triton.jit
def normalize_row(x, weight, y, n, BLOCK: tl.constexpr):
    # kevo: begin row
    start = tl.program_id(0).to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    inside = column < n
    value = tl.load(x + start + column, mask=inside, other=0.0)
    factor = 1.0 / tl.sqrt(tl.sum(value * value, 0) / n + 1e-6)
    tl.store(y + start + column, value * factor * tl.load(weight + column, mask=inside), mask=inside)
    # kevo: end row


@triton.jit
def normalize_long_row(x, weight, y, n, BLOCK: tl.constexpr):
    # kevo: begin long_row
    start = tl.program_id(0).to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        value = tl.load(x + start + first + column, mask=first + column < n, other=0.0)
        squares += value * value
    factor = 1.0 / tl.sqrt(tl.sum(squares, 0) / n + 1e-6)
    for first in range(0, n, BLOCK):
        inside = first + column < n
        value = tl.load(x + start + first + column, mask=inside, other=0.0)
        scaled = value * factor * tl.load(weight + first + column, mask=inside)
        tl.store(y + start + first + column, scaled, mask=inside)
    # kevo: end long_row
