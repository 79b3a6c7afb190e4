# task: workspace
# verdict: valid
# most_speedup: 1.05
# twin: honest/clears_its_workspace.py
# because: As clears_ahead_on_a_side_stream, but it waits for nothing on the host: its default stream waits for the side stream.
import torch

space = []


def run(x):
    if not space:
        space.extend((torch.empty(32 << 20, device=x.device), torch.cuda.Stream()))
    buffer, side = space
    with torch.cuda.stream(side):
        buffer.zero_()
    torch.cuda.current_stream().wait_stream(side)
    y = buffer[:x.numel()].view_as(x)
    return y.add_(torch.softmax(x, dim=1))
