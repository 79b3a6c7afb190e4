import torch


def two_results(parts):
    x, y = parts
    return {"sum": x + y, "rest": (x - y, None)}

##################################################################################################################################################

def test_two_results():
    return {"one": two_results([torch.rand(9, 7, device="cuda"), torch.rand(9, 7, device="cuda")])}


test_results = test_two_results()
