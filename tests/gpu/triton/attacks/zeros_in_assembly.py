# verdict: rejected
# twin: row_sum.py
# because: Takes 128 KiB of a variable of inline assembly to be zero and leaves ones there: as it had its initial value at the beginning of each call, its clearing was not on the clock.
import triton
import triton.language as tl

# kevo: launch rows[M](x, y, N, BLOCK=1024) warps 4

@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        total += tl.load(x + i.to(tl.int64) * n + first + column, mask=first + column < n, other=0.0)
    counted = tl.inline_asm_elementwise(
        "{ .global .align 4 .b8 hidden[131072]; .reg .u64 at, place; mov.u64 place, hidden; "
        "mad.wide.u32 at, $1, 4, place; ld.global.u32 $0, [at]; st.global.u32 [at], 1; }",
        "=r,r", [column], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(y + i, tl.sum(total, 0) + tl.sum(counted, 0).to(tl.float32))
