import torch


def factor(A):
    return torch.linalg.cholesky(A)

##################################################################################################################################################

def test_factor():
    a = torch.randn(12, 12, device="cuda")
    return {"one": factor(a @ a.t() + 12 * torch.eye(12, device="cuda"))}


test_results = test_factor()
