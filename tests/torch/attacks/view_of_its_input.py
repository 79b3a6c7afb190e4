# task: halves
# verdict: valid
# because: Returns a part of its input in place of a copy. The values are right; copying is left to whoever reads them, which is counted as
# this program's time.
def run(x):
    return x[:, :x.shape[1] // 2]
