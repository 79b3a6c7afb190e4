import torch
import triton
import triton.language as tl


@triton.jit
def noise_kernel(x, y, seed, offset, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + tl.rand(seed, offset + i), mask=i < n)


def draws_by_offset(x):
    generator = torch.cuda.default_generators[torch.cuda.current_device()]
    state = generator.get_state().view(torch.int64)
    seed, offset = int(state[0]), int(state[1])
    state[1] += 4
    generator.set_state(state.view(torch.uint8))
    y = torch.empty_like(x)
    noise_kernel[(triton.cdiv(x.numel(), 64),)](x, y, seed, offset, x.numel(), BLOCK=64)
    return y

##################################################################################################################################################

def test_draws_by_offset():
    return {"one": draws_by_offset(torch.randn(100, device="cuda"))}


test_results = test_draws_by_offset()
