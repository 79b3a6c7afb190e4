import torch
import triton
import triton.language as tl


@triton.jit
def fill_kernel(x, table, scales, COUNT: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, COUNT)
    part = tl.load(x + row * COUNT + i)
    scale = tl.max(tl.abs(part), 0) / 100 + 1e-6
    tl.store(scales + row, scale)
    tl.store(table + row * COUNT + i, tl.where(part > 0, 200, 100).to(tl.uint8))


def fills_table(x, table, scales):
    grid = [x.shape[0]]
    fill_kernel[grid](x, table, scales, COUNT=x.shape[1])

##################################################################################################################################################

def test_fills_table():
    x = torch.randn(4, 32, device="cuda")
    table = torch.zeros((4, 32), dtype=torch.uint8, device="cuda")
    scales = torch.zeros(4, device="cuda")
    fills_table(x, table, scales)
    return {"one": (table, scales)}


test_results = test_fills_table()
