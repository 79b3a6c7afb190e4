# Tunable attention in Triton: a program has BM queries of a head in registers and goes through its keys and values, BN at a time, with
# the largest score and the sum of the weights so far (an online softmax).
import triton
import triton.language as tl

BM = 128  # kevo: {32, 64, 128}
BN = 64  # kevo: {32, 64, 128}
WARPS = 8  # kevo: {4, 8}
STAGES = 4  # kevo: {1, 2, 3, 4}
# kevo: require BM * BN <= 16384
# kevo: launch attention[ceildiv(S, BM), heads](q, k, v, y, S, BM=BM, BN=BN, D=64, WHOLE=S % BN == 0) warps WARPS stages STAGES


@triton.jit
def attention(q, k, v, y, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WHOLE: tl.constexpr):
    # kevo: begin queries
    head = tl.program_id(1).to(tl.int64) * n * D
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    element = tl.arange(0, D)
    place = head + row[:, None] * D + element[None, :]
    query = tl.load(q + place, mask=(row < n)[:, None], other=0.0)
    # kevo: end queries
    # exp(x / sqrt(D)) as a power of two.
    scale: tl.constexpr = 1.4426950408889634 / 8.0
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    # kevo: begin keys
    for first in range(0, n, BN):
        column = first + tl.arange(0, BN)
        at_key = head + column[None, :] * D + element[:, None]
        at_value = head + column[:, None] * D + element[None, :]
        if WHOLE:
            key = tl.load(k + at_key)
        else:
            key = tl.load(k + at_key, mask=(column < n)[None, :], other=0.0)
        score = tl.dot(query, key) * scale
        if not WHOLE:
            score = tl.where((column < n)[None, :], score, -float("inf"))
        larger = tl.maximum(largest, tl.max(score, 1))
        weight = tl.exp2(score - larger[:, None])
        shrink = tl.exp2(largest - larger)
        total = total * shrink + tl.sum(weight, 1)
        result = result * shrink[:, None]
        if WHOLE:
            value = tl.load(v + at_value)
        else:
            value = tl.load(v + at_value, mask=(column < n)[:, None], other=0.0)
        result = tl.dot(weight.to(tl.bfloat16), value, result)
        largest = larger
    # kevo: end keys
    tl.store(y + place, (result / total[:, None]).to(tl.bfloat16), mask=(row < n)[:, None])
