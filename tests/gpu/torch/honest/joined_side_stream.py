# task: softmax
# verdict: valid
# because: Half of the rows on a stream of its own, which the usual stream waits for.
import torch

side = None


def run(x):
    global side
    if side is None:
        side = torch.cuda.Stream()
    y = torch.empty_like(x)
    half = x.shape[0] // 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.softmax(x[:half], dim=1, out=y[:half])
    torch.softmax(x[half:], dim=1, out=y[half:])
    torch.cuda.current_stream().wait_stream(side)
    return y
