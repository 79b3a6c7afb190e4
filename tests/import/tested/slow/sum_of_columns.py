import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x, y, rows, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(rows):
        total += tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    tl.store(y + i, total, mask=i < columns)


def sum_of_columns(x):
    y = torch.empty(x.shape[1], device=x.device)
    sum_kernel[(1,)](x, y, x.shape[0], x.shape[1], BLOCK=32)
    return y

##################################################################################################################################################

def test_sum_of_columns():
    few, many = torch.randn(3, 20, device="cuda"), torch.randn(2400, 20, device="cuda")
    return {"few": sum_of_columns(few), "many": sum_of_columns(many)}


test_results = test_sum_of_columns()
