import torch


def drops(x):
    return torch.nn.functional.dropout(x, 0.5)

##################################################################################################################################################

test_results = {"one": drops(torch.randn(64, device="cuda"))}
