import torch


def scale_rows(x, factor=2.0, *, keep=False):
    y = x * factor
    return y if keep else y.sum(-1)

##################################################################################################################################################

import os
import sys
sys.path.append(os.path.abspath("utils"))
import torch
from made_data import draw


def test_scale_rows():
    results = {}
    results["one"] = scale_rows(draw(48, 64))
    results["two"] = scale_rows(draw(48, 64), draw(48, 1), keep=True)
    results["half"] = scale_rows(torch.randn(40, 64, device="cuda").half(), 0.5)
    results["small"] = scale_rows(torch.tensor([[1.0, 2.0], [3.0, 4.0]], device="cuda"), factor=3)
    return results


test_results = test_scale_rows()
