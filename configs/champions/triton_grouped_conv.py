# A tunable grouped convolution in Triton: a program makes BM pixels of a group of 32 channels, as nine matrix products.
import triton
import triton.language as tl

BM = 256  # kevo: {32, 64, 128, 256}
WARPS = 4  # kevo: {1, 2, 4, 8}
STAGES = 3  # kevo: {1, 2, 3, 4}
GROUPS_FIRST = 1  # kevo: {0, 1}
# kevo: when GROUPS_FIRST == 0: launch convolve[ceildiv(N * H * W, BM), G](x, w, y, N * H * W, H, W, G, BM=BM, GROUPS_FIRST=0) warps WARPS stages STAGES
# kevo: when GROUPS_FIRST == 1: launch convolve[G, ceildiv(N * H * W, BM)](x, w, y, N * H * W, H, W, G, BM=BM, GROUPS_FIRST=1) warps WARPS stages STAGES


@triton.jit
def convolve(x, w, y, pixels, height, columns, groups, BM: tl.constexpr, GROUPS_FIRST: tl.constexpr):
    # kevo: begin order
    # Programs that run at the same time work on all groups of some pixels, or on many pixels of a group.
    if GROUPS_FIRST == 1:
        group = tl.program_id(0)
        block = tl.program_id(1)
    else:
        group = tl.program_id(1)
        block = tl.program_id(0)
    # kevo: end order
    pixel = block * BM + tl.arange(0, BM)
    row = pixel // columns % height
    column = pixel % columns
    channel = tl.arange(0, 32)
    total = tl.zeros((BM, 32), tl.float32)
    # kevo: begin taps
    for tap in range(9):
        down = tap // 3 - 1
        right = tap % 3 - 1
        inside = (pixel < pixels) & (row + down >= 0) & (row + down < height) & (column + right >= 0) & (column + right < columns)
        from_x = ((pixel + down * columns + right).to(tl.int64) * groups + group) * 32
        part = tl.load(x + from_x[:, None] + channel[None, :], mask=inside[:, None], other=0.0)
        filters = tl.load(w + group * 9216 + channel[None, :] * 288 + tap * 32 + channel[:, None])
        total = tl.dot(part, filters, total)
    # kevo: end taps
    to_y = (pixel.to(tl.int64) * groups + group) * 32
    tl.store(y + to_y[:, None] + channel[None, :], total.to(tl.bfloat16), mask=(pixel < pixels)[:, None])
