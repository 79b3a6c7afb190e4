# verdict: incorrect
# because: Writes what is not a number.
import triton
import triton.language as tl

# kevo: launch rows[M](x, y, N, BLOCK=1024) warps 4

@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    tl.store(y + tl.program_id(0), float("nan"))
