# verdict: timed_out|crashed
# because: Waits for a value that nobody writes.
import triton
import triton.language as tl

# kevo: workspace flag int32 [1]
# kevo: memset flag 0
# kevo: launch rows[1](y, flag)

@triton.jit
def rows(y, flag):
    while tl.load(flag, volatile=True) == 0:
        tl.store(y, 1.0)
