# verdict: build_failed
# because: Never ends while it is executed for its compilation.
import triton
import triton.language as tl

# kevo: launch rows[M](x, y, N, BLOCK=1024) warps 4
while True:
    pass
