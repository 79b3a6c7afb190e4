# A naive softmax of rows in Triton: every row is read three times, 128 elements at a time.
import triton
import triton.language as tl

# kevo: launch softmax[M](x, y, N, BLOCK=128) warps 1


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    largest = -float("inf")
    for first in range(0, n, BLOCK):
        value = tl.load(x + start + first + column, mask=first + column < n, other=-float("inf"))
        largest = tl.maximum(largest, tl.max(value, 0))
    total = 0.0
    for first in range(0, n, BLOCK):
        value = tl.load(x + start + first + column, mask=first + column < n, other=-float("inf"))
        total += tl.sum(tl.exp(value - largest), 0)
    for first in range(0, n, BLOCK):
        inside = first + column < n
        value = tl.load(x + start + first + column, mask=inside, other=0.0)
        tl.store(y + start + first + column, tl.exp(value - largest) / total, mask=inside)
