# A tunable softmax of rows in Triton. A row that fits into one block of values is read once and kept in
# registers; a longer one is read twice: for its largest element and its sum together, then for the results.
import triton
import triton.language as tl

BLOCK = 16384  # kevo: {512, 1024, 2048, 4096, 8192, 16384}
WARPS = 16  # kevo: {1, 2, 4, 8, 16}
LONG_BLOCK = 2048  # kevo: {512, 1024, 2048, 4096}
STAGES = 1  # kevo: {1, 2, 3, 4}
# kevo: when N <= BLOCK: launch softmax_of_row[M](x, y, N, BLOCK=BLOCK) warps WARPS
# kevo: when N > BLOCK: launch softmax_of_long_row[M](x, y, N, BLOCK=LONG_BLOCK) warps WARPS stages STAGES


@triton.jit
def softmax_of_row(x, y, n, BLOCK: tl.constexpr):
    # kevo: begin row
    start = tl.program_id(0).to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    inside = column < n
    value = tl.load(x + start + column, mask=inside, other=-float("inf"))
    e = tl.exp(value - tl.max(value, 0))
    tl.store(y + start + column, e / tl.sum(e, 0), mask=inside)
    # kevo: end row


@triton.jit
def softmax_of_long_row(x, y, n, BLOCK: tl.constexpr):
    # kevo: begin long_row
    start = tl.program_id(0).to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        inside = first + column < n
        value = tl.load(x + start + first + column, mask=inside, other=-float("inf"))
        larger = tl.maximum(largest, value)
        # A place that has seen no element yet has no sum to scale.
        scale = tl.where(largest == larger, 1.0, tl.exp(largest - larger))
        total = total * scale + tl.where(inside, tl.exp(value - larger), 0.0)
        largest = larger
    most = tl.max(largest, 0)
    factor = 1.0 / tl.sum(tl.where(total > 0, total * tl.exp(largest - most), 0.0), 0)
    for first in range(0, n, BLOCK):
        inside = first + column < n
        value = tl.load(x + start + first + column, mask=inside, other=0.0)
        tl.store(y + start + first + column, tl.exp(value - most) * factor, mask=inside)
    # kevo: end long_row
