# A tunable quantized product in Triton: int8 products, exact sums in int32, scaled by rows and columns at the end. Programs that run at
# the same time work on GROUP rows of tiles, so that they read the same parts of A and B.
import triton
import triton.language as tl

BM = 128  # kevo: {64, 128, 256}
BN = 256  # kevo: {64, 128, 256}
BK = 128  # kevo: {32, 64, 128, 256}
GROUP = 16  # kevo: {1, 4, 8, 16}
WARPS = 8  # kevo: {4, 8}
STAGES = 3  # kevo: {2, 3, 4, 5}
# kevo: require BM * BN <= 32768
# kevo: require (BM + BN) * BK * STAGES <= 225280
# kevo: launch product[ceildiv(M, BM) * ceildiv(N, BN)](A, B, a, b, C, M, N, K, BM=BM, BN=BN, BK=BK, GROUP=GROUP, WHOLE=K % BK == 0) warps WARPS stages STAGES


@triton.jit
def product(a, b, scale_a, scale_b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
            WHOLE: tl.constexpr):
    tile = tl.program_id(0)
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    # kevo: begin order_of_tiles
    group = tile // (GROUP * tiles_n)
    rows_of_group = min(tiles_m - group * GROUP, GROUP)
    inner = tile % (GROUP * tiles_n)
    row = (group * GROUP + inner % rows_of_group) * BM + tl.arange(0, BM)
    column = (inner // rows_of_group) * BN + tl.arange(0, BN)
    # kevo: end order_of_tiles
    # Rows beyond the end are read from its beginning, and not written.
    at_a = a + (row % m)[:, None] * k + tl.arange(0, BK)[None, :]
    at_b = b + (column % n)[None, :] * k + tl.arange(0, BK)[:, None]
    total = tl.zeros((BM, BN), tl.int32)
    # kevo: begin sum
    for first in range(0, k, BK):
        if WHOLE:
            part_a = tl.load(at_a)
            part_b = tl.load(at_b)
        else:
            left = k - first
            part_a = tl.load(at_a, mask=tl.arange(0, BK)[None, :] < left, other=0)
            part_b = tl.load(at_b, mask=tl.arange(0, BK)[:, None] < left, other=0)
        total = tl.dot(part_a, part_b, total, out_dtype=tl.int32)
        at_a += BK
        at_b += BK
    # kevo: end sum
    result = total.to(tl.float32) * tl.load(scale_a + row % m)[:, None] * tl.load(scale_b + column % n)[None, :]
    inside = (row < m)[:, None] & (column < n)[None, :]
    tl.store(c + row[:, None] * n + column[None, :], result.to(tl.bfloat16), mask=inside)
