# task: softmax
# verdict: valid
# because: Lets PyTorch's allocator map memory page by page, which no other process can open: its result is copied within the call.
import torch

torch.cuda.memory._set_allocator_settings("expandable_segments:True")


def run(x):
    return torch.softmax(x, dim=1)
