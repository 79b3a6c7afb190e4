# The first half of each row, as a tensor of its own.
def run(x):
    return x[:, :x.shape[1] // 2].clone()
